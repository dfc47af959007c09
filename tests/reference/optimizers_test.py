"""Each optimizer, with settings that change, moves parameters as PyTorch's does."""

import unittest

import data_sets
import networks
from side_by_side import losses

UPDATES = 20


def schedule(optimizer):
    """All settings change on the way, and the batch size."""
    lr = 0.1 if optimizer == "sgd" else 0.003

    def values(update):
        late = update >= 10
        return {
            "optimizer": optimizer, "bs": 50 if late else 32, "lr": lr / (1 + update // 5), "weight_decay": 0.01 if late else 0.001,
            "momentum": 0.5 if late else 0.9, "nesterov": late, "beta1": 0.8 if late else 0.9, "beta2": 0.99 if late else 0.999,
            "alpha": 0.9 if late else 0.99, "eps": 1e-6 if late else 1e-8,
        }  # fmt: skip

    return values


class Optimizers(unittest.TestCase):
    def test_the_first_losses_are_those_of_pytorch(self):
        for optimizer in ("sgd", "adam", "adamw", "rmsprop"):
            with self.subTest(optimizer):
                here, there = losses("mlp", "digits", networks.Mlp(64, 10), data_sets.digits(), schedule(optimizer), UPDATES)
                self.assertLess(here[-1], here[0])
                for mine, reference in zip(here, there, strict=True):
                    self.assertAlmostEqual(mine / reference, 1, delta=1e-4)


if __name__ == "__main__":
    unittest.main()
