"""The training that all systems of this bench do: a network 64-128-64-10 learns digits under a grid of schedules. Plain PyTorch."""

import collections
import itertools
import json
import os
import pathlib
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy

EPOCHS = int(os.environ.get("ESPALIER_BENCH_EPOCHS", "80"))
HALF, THREE_QUARTERS = EPOCHS // 2, EPOCHS * 3 // 4
LEARNING_RATES = [(0.05, [], 0.1), (0.05, [HALF], 0.1), (0.05, [THREE_QUARTERS], 0.1), (0.05, [HALF, THREE_QUARTERS], 0.1)]
BATCH_SIZES = [(32, [], 2), (32, [HALF], 2), (32, [THREE_QUARTERS], 2)]
MOMENTA = [0.5, 0.8, 0.9, 0.95]
IMAGES_FILE = pathlib.Path(__file__).parents[2] / "examples/pytorch/digits.csv"


def grid():
    """The trials: {"momentum": number, "lr" and "bs": (first value, milestones, factor)}."""
    return [{"momentum": momentum, "lr": lr, "bs": bs} for momentum, lr, bs in itertools.product(MOMENTA, LEARNING_RATES, BATCH_SIZES)]


def value(schedule, epoch):
    first, milestones, factor = schedule
    return first * factor ** sum(epoch >= milestone for milestone in milestones)


class Training:
    seconds = collections.Counter()  # of this process, by batch size, not told yet

    def __init__(self, momentum):
        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.images, self.labels, self.test_images, self.test_labels = load()
        self.model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=momentum)
        self.generator = torch.Generator().manual_seed(1)

    def epoch(self, lr, bs):
        """One epoch; the mean of the losses."""
        begun = time.perf_counter()
        self.optimizer.param_groups[0]["lr"] = lr
        loss_sum = 0.0
        for places in torch.randperm(len(self.images), generator=self.generator).split(bs):
            self.optimizer.zero_grad()
            loss = cross_entropy(self.model(self.images[places]), self.labels[places])
            loss.backward()
            self.optimizer.step()
            loss_sum += loss.item() * len(places)
        Training.seconds[bs] += time.perf_counter() - begun
        return loss_sum / len(self.images)

    def accuracy(self):
        """On the test images. Also adds this process's training time since the last call to the bench's account."""
        with torch.no_grad():
            right = (self.model(self.test_images).argmax(dim=1) == self.test_labels).sum().item()
        with open(os.environ["ESPALIER_BENCH_ACCOUNT"], "a") as account:
            account.write(json.dumps(Training.seconds) + "\n")
        Training.seconds.clear()
        return right / len(self.test_labels)


_loaded = []


def load():
    """Training images and labels, then those for tests: every fifth."""
    if not _loaded:
        rows = torch.tensor([[int(number) for number in line.split(",")] for line in IMAGES_FILE.read_text().splitlines()])
        images, labels = rows[:, :64] / 16, rows[:, 64]
        for_tests = torch.arange(len(rows)) % 5 == 4
        _loaded.extend([images[~for_tests], labels[~for_tests], images[for_tests], labels[for_tests]])
    return _loaded


def run_trial(trial):
    """The whole trial; its accuracy."""
    training = Training(trial["momentum"])
    for epoch in range(EPOCHS):
        training.epoch(value(trial["lr"], epoch), round(value(trial["bs"], epoch)))
    return training.accuracy()
