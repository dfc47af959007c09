"""Teaches a network of linear layers to read handwritten digits, with Adam and a learning rate that falls at each epoch."""

import pathlib

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

import espalier as es

DIGITS = pathlib.Path(__file__).with_name("digits.csv")


class Digits(es.Trainer):
    hyper_parameters = {
        "initial_lr": es.initial(float, default=0.003),  # the scheduler makes the rest of it
        "bs": es.sequence(int, default=32),
        "depth": es.initial(int, default=2),
        "width": es.initial(int, default=64),
    }
    metrics = ["test_acc"]
    data = es.files("digits.csv")

    def init(self, hp):
        train_set, test_set = load(DIGITS)
        layers = [nn.Linear(64, hp["width"]), nn.ReLU()]
        for _ in range(hp["depth"] - 1):
            layers += [nn.Linear(hp["width"], hp["width"]), nn.ReLU()]
        self.model = nn.Sequential(*layers, nn.Linear(hp["width"], 10))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=hp["initial_lr"])
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)
        self.train_loader = es.DataLoader(train_set, batch_size=hp["bs"], shuffle=True)
        self.test_loader = DataLoader(test_set, batch_size=256)
        self.track(self.model, self.optimizer, self.scheduler, self.train_loader)

    def train(self):
        self.model.train()
        loss_sum, samples = 0.0, 0
        for images, labels in self.batches(self.train_loader):
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
