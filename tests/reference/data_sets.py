"""Data sets as the built-in trainers see them, read a second time: values of updates -> inputs and labels of each."""

import gzip
import os
import pathlib

import sample_order
import torch

SEED = 3

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Data sets that are no part of the repository; tests on them are not run where they are not.
ELSEWHERE = pathlib.Path(os.environ.get("ESPALIER_TEST_DATA") or ROOT.parent / "shared" / "data")


def in_order(inputs, labels):
    """Samples in the order in which they are trained on."""

    def batches(values_of_updates):
        for batch in sample_order.batches(len(labels), SEED, (values["bs"] for values in values_of_updates)):
            yield inputs[batch], labels[batch]

    return batches


def digits():
    """worker/trainer/data/digits.h"""
    lines = (ROOT / "worker/trainer/data/digits.csv").read_text().splitlines()
    rows = torch.tensor([[int(number) for number in line.split(",")] for line in lines])
    rows = rows[torch.arange(1, len(lines) + 1) % 5 != 0]
    return in_order(rows[:, :64].reshape(-1, 1, 8, 8) / 16, rows[:, 64])


def standardised(images):
    """worker/trainer/data/standardise.h"""
    values = images.double()
    mean, deviation = values.mean((0, 2, 3)), values.std((0, 2, 3), correction=0)
    return (images.float() - mean.float()[:, None, None]) * (1 / deviation).float()[:, None, None]


def cifar10(folder):
    rows = torch.frombuffer(bytearray(gzip.decompress((folder / "data_batch_1.bin.gz").read_bytes())), dtype=torch.uint8).reshape(-1, 3073)
    return in_order(standardised(rows[:, 1:].reshape(-1, 3, 32, 32)), rows[:, 0].long())


def mnist(folder):
    def content(name, head_bytes):
        return torch.frombuffer(bytearray(gzip.decompress((folder / f"{name}.gz").read_bytes())[head_bytes:]), dtype=torch.uint8)

    images = content("train-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)
    return in_order(standardised(images), content("train-labels-idx1-ubyte", 8).long())


def table(text):
    """worker/trainer/data/table_files.h, without a head"""
    rows = [line.split(",") for line in text.splitlines()]
    classes = sorted({row[-1] for row in rows})
    inputs = torch.tensor([[float(number) for number in row[:-1]] for row in rows], dtype=torch.float64)
    inputs = (inputs - inputs.mean(0)) / inputs.std(0, correction=0)
    return in_order(inputs.float(), torch.tensor([classes.index(row[-1]) for row in rows]))


def text(content):
    """worker/trainer/data/text_batches.h, without a second text"""

    def batches(values_of_updates):
        sizes = ((values["bs"], values["length"]) for values in values_of_updates)
        for windows in sample_order.windows(content, SEED, sizes):
            windows = torch.tensor(windows)
            yield windows[:, :-1], windows[:, 1:]

    return batches


def labeled_lines(text_of_classes):
    """worker/trainer/data/line_batches.h: `text_of_classes`, by name"""
    lines = [(line, label) for label, name in enumerate(sorted(text_of_classes)) for line in text_of_classes[name].split(b"\n") if line]

    def batches(values_of_updates):
        sizes = [values["bs"] for values in values_of_updates]
        for values, batch in zip(values_of_updates, sample_order.batches(len(lines), SEED, sizes), strict=True):
            length = min(max(len(lines[i][0]) for i in batch) + 1, values["length"])
            rows = [[256, *lines[i][0]][:length] for i in batch]
            yield torch.tensor([row + [257] * (length - len(row)) for row in rows]), torch.tensor([lines[i][1] for i in batch])

    return batches
