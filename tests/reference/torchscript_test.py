"""A module that Python exports trains in the worker as in Python."""

import pathlib
import tempfile
import unittest

import data_sets
import networks
import torch
from side_by_side import losses


def schedule(update):
    return {"bs": 32, "lr": 0.1 if update < 10 else 0.05, "momentum": 0.9, "weight_decay": 1e-4}


class Exported(unittest.TestCase):
    def test_an_exported_module(self):
        for network in (networks.Mlp(64, 10), networks.ResNet(8, 1, 10)):
            with self.subTest(type(network).__name__), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "exported.pt"
                torch.jit.script(network).save(file)
                # The residual network's small learning rate: see resnet_test.py.
                slower = schedule if isinstance(network, networks.Mlp) else lambda update: {**schedule(update), "lr": 0.001}
                here, there = losses(file, "digits", network, data_sets.digits(), slower, 20)
                for mine, reference in zip(here, there, strict=True):
                    self.assertAlmostEqual(mine / reference, 1, delta=1e-4)


if __name__ == "__main__":
    unittest.main()
