"""Teaches a small convolutional network to read handwritten digits of 8 by 8 pixels."""

import pathlib

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

import espalier as es

DIGITS = pathlib.Path(__file__).with_name("digits.csv")
HYPER_PARAMETERS = {"lr": es.sequence(float, default=0.05), "bs": es.sequence(int, default=64)}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 32, 3, padding=1)
        self.norm = nn.BatchNorm2d(32)
        self.dropout = nn.Dropout(0.25)
        self.hidden = nn.Linear(32 * 4 * 4, 64)
        self.output = nn.Linear(64, 10)

    def forward(self, images):
        x = functional.relu(self.first(images))
        x = functional.max_pool2d(functional.relu(self.norm(self.second(x))), 2)
        x = functional.relu(self.hidden(self.dropout(x.flatten(1))))
        return self.output(x)


def load(path):
    """Sets for training and for tests: every fifth image is for tests."""
    lines = [[int(number) for number in line.split(",")] for line in path.read_text().splitlines()]
    rows = torch.tensor(lines)
    images, labels = (rows[:, :64] / 16).reshape(-1, 1, 8, 8), rows[:, 64]
    for_tests = torch.arange(len(rows)) % 5 == 4
    return TensorDataset(images[~for_tests], labels[~for_tests]), TensorDataset(images[for_tests], labels[for_tests])


def train(model, batches, optimizer):
    model.train()
    loss_sum, samples = 0.0, 0
    for images, labels in batches:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(labels)
        samples += len(labels)
    return {"loss": loss_sum / samples, "samples": samples}


def test(model, batches):
    model.eval()
    loss_sum, right, samples = 0.0, 0, 0
    with torch.no_grad():
        for images, labels in batches:
            output = model(images)
            loss_sum += functional.cross_entropy(output, labels, reduction="sum").item()
            right += (output.argmax(dim=1) == labels).sum().item()
            samples += len(labels)
    return {"test_loss": loss_sum / samples, "test_acc": right / samples}


@es.loop(hyper_parameters=HYPER_PARAMETERS, metrics=["test_loss", "test_acc"], data=es.files("digits.csv"))
def main(hp):
    torch.manual_seed(hp["seed"])
    train_set, test_set = load(DIGITS)
    train_loader = es.DataLoader(train_set, batch_size=hp["bs"], shuffle=True)
    test_loader = DataLoader(test_set, batch_size=256)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=hp["lr"], momentum=0.9, weight_decay=1e-4)
    es.track(model, optimizer, train_loader)
    es.evaluate(lambda: test(model, test_loader))
    for epoch in es.steps():
        es.report(**train(model, es.batches(train_loader), optimizer))
