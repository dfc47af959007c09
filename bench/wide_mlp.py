"""A wide network on made-up points, whose state is as large as `hidden` says: what the benches `overhead` and `preempt` train in Python.

`wide_mlp.py HIDDEN UPDATES STEPS SEED` trains it in a loop with nothing around it, evaluates it, and prints "SECONDS TEST_ACC"."""

import random
import sys
import time

import numpy
import torch
from torch import nn

import espalier as es
from espalier import device

FEATURES, CLASSES, BATCH_SIZE = 64, 10, 32


def network(hidden):
    return nn.Sequential(nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, CLASSES))


def optimizer(model, lr, momentum):
    return torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum)


def update(model, optimizer):
    """One update on a batch that is drawn. Returns the loss."""
    points, labels = torch.randn(BATCH_SIZE, FEATURES), torch.randint(CLASSES, (BATCH_SIZE,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(points), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def accuracy(model):
    drawn = torch.Generator().manual_seed(1)
    points, labels = torch.randn(1000, FEATURES, generator=drawn), torch.randint(CLASSES, (1000,), generator=drawn)
    with torch.no_grad():
        return (model(points).argmax(dim=1) == labels).float().mean().item()


class Wide(es.Trainer):
    hyper_parameters = {"hidden": es.initial(int, default=64), "lr": es.sequence(float, default=0.01),
                        "momentum": es.sequence(float, default=0.9)}  # fmt: skip
    metrics = ("test_acc",)
    data = "drawn"
    version = "1"
    reload = True

    def init(self, hp):
        self.model = network(hp["hidden"])
        self.optimizer = optimizer(self.model, hp["lr"], hp["momentum"])
        self.track(self.model, self.optimizer)

    def train(self):
        losses = [update(self.model, self.optimizer) for _ in range(self.step_meaning.updates)]
        return {"loss": sum(losses) / len(losses), "samples": len(losses) * BATCH_SIZE}

    def evaluate(self):
        return {"test_acc": accuracy(self.model)}


class WideFromInit(Wide):
    """The same, for which each run begins with init."""

    reload = False


def main(hidden, updates, steps, seed):
    device.set_up()
    begin = time.monotonic()
    for set_seed in (torch.manual_seed, random.seed, numpy.random.seed):
        set_seed(seed)
    model = network(hidden)
    optimize = optimizer(model, 0.01, 0.9)
    for _ in range(steps):
        for _ in range(updates):
            update(model, optimize)
    measured = accuracy(model)
    print(f"{time.monotonic() - begin:.6f} {measured!r}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
