"""What an optimizer's state is made of, without a worker around it."""

import unittest

import torch

from espalier import optimizer, state
from espalier.failure import TrainerError


class Wrapper(torch.optim.Optimizer):
    """As accelerate's."""

    def __init__(self, within):
        self.optimizer = within

    def __getattr__(self, name):
        return getattr(self.optimizer, name)

    def state_dict(self):
        return self.optimizer.state_dict()

    def load_state_dict(self, saved):
        self.optimizer.load_state_dict(saved)


class OptimizerTest(unittest.TestCase):
    def test_what_is_kept_for_a_parameter_keeps_its_type(self):
        def make():
            made = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1)
            made.state[made.param_groups[0]["params"][0]] = {"quantized": torch.tensor([1, 2], dtype=torch.uint8), "note": "kept"}
            return made

        for wrapped in (lambda each: each, Wrapper):
            restored = make()
            optimizer.restore(wrapped(restored), state.unflatten(state.flatten(optimizer.capture(wrapped(make())))))
            [kept] = restored.state.values()
            self.assertEqual(kept["quantized"].dtype, torch.uint8)
            self.assertEqual(kept["note"], "kept")

    def test_shares_that_are_unknown_are_refused(self):
        both = torch.optim.SGD([{"params": [torch.ones(1)]}, {"params": [torch.ones(2)]}], lr=0.1, weight_decay=0.0)
        with self.assertRaisesRegex(TrainerError, "weight_decay is 0 at step 0, so the shares of the optimizer's 2"):
            optimizer.options_of(both).set(both, "weight_decay", 0.1, 0.0)
        alone = torch.optim.SGD([torch.ones(1)], lr=0.1)
        optimizer.options_of(alone).set(alone, "weight_decay", 0.1, 0.0)
        self.assertEqual(alone.param_groups[0]["weight_decay"], 0.1)
