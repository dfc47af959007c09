"""Teaches a network of two layers to read handwritten digits of 8 by 8 pixels. The notebook beside it drives it."""

import pathlib

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import TensorDataset

import espalier as es


class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def load():
    """Sets for training and for tests: every fifth image is for tests."""
    lines = pathlib.Path(__file__).with_name("digits.csv").read_text().splitlines()
    rows = torch.tensor([[int(number) for number in line.split(",")] for line in lines])
    images, labels, for_tests = rows[:, :64] / 16, rows[:, 64], torch.arange(len(rows)) % 5 == 4
    return TensorDataset(images[~for_tests], labels[~for_tests]), TensorDataset(images[for_tests], labels[for_tests])


def accuracy(model, images, labels):
    with torch.no_grad():
        return (model(images).argmax(dim=1) == labels).double().mean().item()


@es.loop(hyper_parameters={"lr": es.sequence(float, default=0.1), "bs": es.sequence(int, default=32)}, metrics=["test_acc"],
         data=es.files("digits.csv"))  # fmt: skip
def main(hp):
    train_set, test_set = load()
    loader = es.DataLoader(train_set, batch_size=hp["bs"], shuffle=True)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=hp["lr"], momentum=0.9)
    es.track(model, optimizer, loader)
    es.evaluate(lambda: {"test_acc": accuracy(model, *test_set.tensors)})
    for epoch in es.steps():
        loss_sum, samples = 0.0, 0
        for images, labels in es.batches(loader):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            loss_sum += loss.item() * len(labels)
            samples += len(labels)
        es.report(loss=loss_sum / samples, samples=samples)
