"""Teaches a small convolutional network to read handwritten digits of 8 by 8 pixels."""

import pathlib

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

DIGITS = pathlib.Path(__file__).with_name("digits.csv")
HYPER_PARAMETERS = {"lr": 0.05, "bs": 64, "seed": 1}


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


def main(hp):
    torch.manual_seed(hp["seed"])
    train_set, test_set = load(DIGITS)
    train_loader = DataLoader(train_set, batch_size=hp["bs"], shuffle=True)
    test_loader = DataLoader(test_set, batch_size=256)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=hp["lr"], momentum=0.9, weight_decay=1e-4)
    for epoch in range(1, 11):
        print(epoch, train(model, train_loader, optimizer), test(model, test_loader))


if __name__ == "__main__":
    main(HYPER_PARAMETERS)
