"""Teaches a network of linear layers to read handwritten digits, with Adam and a learning rate that falls at each epoch."""

import pathlib

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

DIGITS = pathlib.Path(__file__).with_name("digits.csv")


class Digits:
    def __init__(self, lr=0.003, bs=32, depth=2, width=64):
        train_set, test_set = load(DIGITS)
        layers = [nn.Linear(64, width), nn.ReLU()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.ReLU()]
        self.model = nn.Sequential(*layers, nn.Linear(width, 10))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)
        self.train_loader = DataLoader(train_set, batch_size=bs, shuffle=True)
        self.test_loader = DataLoader(test_set, batch_size=256)

    def train(self):
        self.model.train()
        loss_sum, samples = 0.0, 0
        for images, labels in self.train_loader:
            self.optimizer.zero_grad()
            loss = functional.cross_entropy(self.model(images), labels)
            loss.backward()
            self.optimizer.step()
            loss_sum += loss.item() * len(labels)
            samples += len(labels)
        self.scheduler.step()
        return {"loss": loss_sum / samples, "samples": samples}

    def evaluate(self):
        self.model.eval()
        right, samples = 0, 0
        with torch.no_grad():
            for images, labels in self.test_loader:
                right += (self.model(images).argmax(dim=1) == labels).sum().item()
                samples += len(labels)
        return {"test_acc": right / samples}


def load(path):
    """Sets for training and for tests: every fifth image is for tests."""
    lines = [[int(number) for number in line.split(",")] for line in path.read_text().splitlines()]
    rows = torch.tensor(lines)
    images, labels = rows[:, :64] / 16, rows[:, 64]
    for_tests = torch.arange(len(rows)) % 5 == 4
    return TensorDataset(images[~for_tests], labels[~for_tests]), TensorDataset(images[for_tests], labels[for_tests])


if __name__ == "__main__":
    torch.manual_seed(1)
    digits = Digits()
    for epoch in range(1, 11):
        print(epoch, digits.train(), digits.evaluate())
