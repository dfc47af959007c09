"""Sequences against PyTorch's own schedulers, step by step. Drives `espalier sequence show`, as a user would."""

import json
import os
import pathlib
import subprocess
import unittest
import warnings

import torch
from torch.optim import lr_scheduler as schedulers

ESPALIER = pathlib.Path(os.environ["ESPALIER_BIN"]) / "espalier"
STEPS = 400
LR = 0.1


def sequence(expression, steps=STEPS):
    shown = subprocess.run([ESPALIER, "sequence", "show", expression, "--steps", f"0:{steps}", "--output", "json"],
                           capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)["values"]


def of_pytorch(make_scheduler, steps=STEPS, lr=LR):
    """The learning rate in force at each step: what the optimizer has before the scheduler's next step."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr, momentum=0.9)
    scheduler = make_scheduler(optimizer)
    values = []
    for step in range(steps):
        values.append(float(optimizer.param_groups[0]["lr"]))
        if step + 1 < steps:
            optimizer.step()
            scheduler.step()
    return values


class PyTorchTest(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def check(self, expression, make_scheduler, steps=STEPS, lr=LR):
        with self.subTest(expression):
            ours = sequence(expression, steps)
            theirs = of_pytorch(make_scheduler, steps, lr)
            self.assertEqual(len(ours), len(theirs))
            tolerance = 1e-12 * max(abs(value) for value in theirs)
            for step, (our, their) in enumerate(zip(ours, theirs)):
                self.assertLessEqual(abs(our - their), tolerance, f"step {step}: {our} and PyTorch's {their}")

    def test_cosine(self):
        for period, gamma in ((75, 1), (10, 2), (7, 3), (1, 2)):
            self.check(f"Cosine(0.1, 0.003, {period}, gamma={gamma})",
                       lambda o, p=period, g=gamma: schedulers.CosineAnnealingWarmRestarts(o, p, g, eta_min=0.003))

    def test_one_cycle(self):
        for total, pct_start, anneal, three_phase in ((400, 0.3, "cos", False), (433, 0.25, "linear", False),
                                                      (401, 0.37, "cos", True), (400, 0.3, "linear", True)):
            self.check(f'OneCycle(0.1, {total}, {pct_start}, "{anneal}", three_phase={str(three_phase).lower()})',
                       lambda o, t=total, p=pct_start, a=anneal, three=three_phase: schedulers.OneCycleLR(
                           o, 0.1, total_steps=t, pct_start=p, anneal_strategy=a, three_phase=three))
        self.check('OneCycle(0.3, 400, div_factor=10, final_div_factor=100)',
                   lambda o: schedulers.OneCycleLR(o, 0.3, total_steps=400, div_factor=10, final_div_factor=100))

    def test_cyclic(self):
        for up, down in ((20, 20), (13, 40), (1, 7)):
            self.check(f"CyclicLR(0.001, 0.1, {up}, {down})",
                       lambda o, u=up, d=down: schedulers.CyclicLR(o, 0.001, 0.1, step_size_up=u, step_size_down=d,
                                                                   mode="triangular", cycle_momentum=False))

    def test_polynomial(self):
        for power in (1, 2, 0.9, 0.5):
            self.check(f"Polynomial(0.1, 300, {power})",
                       lambda o, p=power: schedulers.PolynomialLR(o, total_iters=300, power=p))

    def test_linear(self):
        self.check("LinearTo(0.01, 0.1, 50)", lambda o: schedulers.LinearLR(o, 0.1, 1.0, total_iters=50))
        self.check("LinearTo(0.1, 0.03, 333)", lambda o: schedulers.LinearLR(o, 1.0, 0.3, total_iters=333))

    def test_plateaus_and_exponentials(self):
        self.check("Exponential(0.1, 0.95)", lambda o: schedulers.ExponentialLR(o, 0.95))
        self.check("Step(0.1, 30, 0.5)", lambda o: schedulers.StepLR(o, 30, 0.5))
        self.check("MultiStep(0.1, [40, 60, 300], 0.1)",
                   lambda o: schedulers.MultiStepLR(o, milestones=[40, 60, 300], gamma=0.1))

    def test_one_after_another(self):
        def warm_up(optimizer):
            first = schedulers.LinearLR(optimizer, 0.1, 1.0, total_iters=5)
            then = schedulers.CosineAnnealingWarmRestarts(optimizer, 75)
            return schedulers.SequentialLR(optimizer, [first, then], milestones=[5])

        self.check("Warmup(0.01, 5, Cosine(0.1, 0, 75))", warm_up)

        def milestones(optimizer):
            first = schedulers.LinearLR(optimizer, 0.1, 1.0, total_iters=5)
            then = schedulers.MultiStepLR(optimizer, milestones=[40, 60], gamma=0.1)
            return schedulers.SequentialLR(optimizer, [first, then], milestones=[5])

        self.check("Warmup(0.01, 5, MultiStep(0.1, [40, 60], 0.1))", milestones)

        def pieces(optimizer):
            first = schedulers.ConstantLR(optimizer, factor=1.0, total_iters=100)
            then = schedulers.ExponentialLR(optimizer, 0.9)
            return schedulers.SequentialLR(optimizer, [first, then], milestones=[20])

        self.check("Piecewise([0.1, Exponential(0.1, 0.9)], [20])", pieces)


if __name__ == "__main__":
    unittest.main(verbosity=2)
