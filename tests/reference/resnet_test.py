"""The residual networks compute what they do in plain PyTorch, on data sets as their authors give them away.

Two libraries round differently, and a network of rectifiers doubles a difference with each update or so, the faster the larger the
learning rate: it is small here, so that 20 updates tell a mistake from rounding."""

import unittest

import data_sets
import networks
import torch
from side_by_side import losses

UPDATES = 20


def schedule(update):
    return {"bs": 100, "lr": 0.001 if update < 10 else 0.0005, "momentum": 0.9, "weight_decay": 1e-4}


class ResNets(unittest.TestCase):
    def compare(self, data, samples, depth, channels):
        torch.set_num_threads(1)
        here, there = losses("resnet", data, networks.ResNet(depth, channels, 10), samples, schedule, UPDATES, {"depth": depth})
        for mine, reference in zip(here, there, strict=True):
            self.assertAlmostEqual(mine / reference, 1, delta=1e-4)

    def folder(self, name):
        folder = data_sets.ELSEWHERE / name
        if not folder.is_dir():
            self.skipTest(f"there is no {folder}: ESPALIER_TEST_DATA names the folder that holds it")
        return folder

    def test_depth_8_on_digits(self):
        self.compare("digits", data_sets.digits(), 8, 1)

    def test_depth_20_on_cifar10(self):
        folder = self.folder("cifar10-subset")
        self.compare(folder, data_sets.cifar10(folder), 20, 3)

    def test_depth_8_on_mnist(self):
        folder = self.folder("mnist")
        self.compare(folder, data_sets.mnist(folder), 8, 1)


if __name__ == "__main__":
    unittest.main()
