"""Data sets as the built-in trainers see them, read a second time: inputs (float32) and labels of the training samples."""

import gzip
import os
import pathlib

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Data sets that are no part of the repository; tests on them are not run where they are not.
ELSEWHERE = pathlib.Path(os.environ.get("ESPALIER_TEST_DATA") or ROOT.parent / "shared" / "data")


def digits():
    """worker/trainer/data/digits.h"""
    lines = (ROOT / "worker/trainer/data/digits.csv").read_text().splitlines()
    rows = torch.tensor([[int(number) for number in line.split(",")] for line in lines])
    rows = rows[torch.arange(1, len(lines) + 1) % 5 != 0]
    return rows[:, :64].reshape(-1, 1, 8, 8) / 16, rows[:, 64]


def standardised(images):
    """worker/trainer/data/standardise.h"""
    values = images.double()
    mean, deviation = values.mean((0, 2, 3)), values.std((0, 2, 3), correction=0)
    return (images.float() - mean.float()[:, None, None]) / deviation.float()[:, None, None]


def cifar10(folder):
    rows = torch.frombuffer(bytearray(gzip.decompress((folder / "data_batch_1.bin.gz").read_bytes())), dtype=torch.uint8).reshape(-1, 3073)
    return standardised(rows[:, 1:].reshape(-1, 3, 32, 32)), rows[:, 0].long()


def mnist(folder):
    def content(name, head_bytes):
        return torch.frombuffer(bytearray(gzip.decompress((folder / f"{name}.gz").read_bytes())[head_bytes:]), dtype=torch.uint8)

    return standardised(content("train-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)), content("train-labels-idx1-ubyte", 8).long()
