"""mobilenet_v2 computes what it does in plain PyTorch: in float64, since its many normalisations make a difference in the last bit a
hundred thousand times as large within three updates."""

import unittest

import data_sets
import networks
import torch
from side_by_side import losses


def schedule(update):
    return {"bs": 50, "lr": 0.001 if update < 10 else 0.0005, "momentum": 0.9, "weight_decay": 4e-5}


class MobileNets(unittest.TestCase):
    def compare(self, data, samples, width, channels):
        torch.set_num_threads(1)
        network = networks.MobileNetV2(width, channels, 10)
        here, there = losses("mobilenet_v2", data, network, samples, schedule, 20, {"width": width, "precision": "float64"})
        for mine, reference in zip(here, there, strict=True):
            self.assertAlmostEqual(mine / reference, 1, delta=1e-4)

    def test_half_as_wide_on_digits(self):
        self.compare("digits", data_sets.digits(), 0.5, 1)

    def test_on_cifar10(self):
        folder = data_sets.ELSEWHERE / "cifar10-subset"
        if not folder.is_dir():
            self.skipTest(f"there is no {folder}: ESPALIER_TEST_DATA names the folder that holds it")
        self.compare(folder, data_sets.cifar10(folder), 0.25, 3)


if __name__ == "__main__":
    unittest.main()
