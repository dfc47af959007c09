"""Data sets as the built-in trainers see them, read a second time: inputs (float32) and labels of the training samples."""

import pathlib

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]


def digits():
    """worker/trainer/data/digits.h"""
    lines = (ROOT / "worker/trainer/data/digits.csv").read_text().splitlines()
    rows = torch.tensor([[int(number) for number in line.split(",")] for line in lines])
    rows = rows[torch.arange(1, len(lines) + 1) % 5 != 0]
    return rows[:, :64].reshape(-1, 1, 8, 8) / 16, rows[:, 64]
