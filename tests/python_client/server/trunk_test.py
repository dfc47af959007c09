"""examples/trunk as its readers run it: many decays of one trunk of a language model cost hardly more than one training, and change no bit."""

import json
import math
import os
import pathlib
import subprocess
import sys
import unittest

from service import BIN, Service

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRUNK = ROOT / "examples" / "trunk"
LICENCES = pathlib.Path("/usr/share/common-licenses")
# How much of the way down a decay of each shape is at u, its part of the time.
SHAPES = {"linear": lambda u: u, "cosine": lambda u: (1 - math.cos(math.pi * u)) / 2, "sqrt": math.sqrt, "square": lambda u: u * u,
          "mirror_cosine": lambda u: 2 * u - (1 - math.cos(math.pi * u)) / 2}  # fmt: skip


class TrunkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.texts = cls.service.root / "licences"
        cls.texts.mkdir()
        text = (LICENCES / "GPL-3").read_bytes()
        for name, content in (("train", text[:30000]), ("test", text[30000:]), ("second", (LICENCES / "Apache-2.0").read_bytes())):
            (cls.texts / f"{name}.txt").write_bytes(content)
        cls.enterClassContext(cls.service)
        cls.found = cls.trained()

    @classmethod
    def trained(cls, *options):
        environment = dict(cls.service.environment(), ESPALIER_PROGRAM=str(BIN / "espalier"), PYTHONPATH=str(ROOT / "client" / "python"))
        done = subprocess.run([sys.executable, TRUNK / "trunk.py", "--data", cls.texts, *options, "--output", "json"], env=environment,
                              capture_output=True, text=True, timeout=900)  # fmt: skip
        if done.returncode != 0:
            raise AssertionError(f"it ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def test_ten_decays_of_one_trunk_are_trained_for_less_than_a_fifth_of_their_steps(self):
        decays, with_another = self.found["saved"]
        self.assertEqual((decays["steps_asked"], decays["steps_trained"], decays["steps_trained_alone"]), (1000, 190, 1000))
        self.assertEqual((with_another["steps_asked"], with_another["steps_trained"]), (1100, 200))
        self.assertGreaterEqual(decays["steps_saved"], 5)
        self.assertAlmostEqual(decays["bound"], 10 / (0.9 + 10 * 0.1))
        self.assertGreater(decays["slot_seconds"], 0)
        self.assertGreater(decays["slot_seconds_alone"], 0)

    def test_every_branch_ends_in_the_state_that_it_has_alone(self):
        branches = self.found["branches"]
        self.assertEqual([each["same_state"] for each in branches], [True] * 11)
        self.assertEqual(len({each["state_sha256"] for each in branches}), 11)

    def test_the_learning_rate_falls_from_where_it_is_when_the_branch_begins(self):
        for end in (0, 0.001):
            for shape, part in SHAPES.items():
                [branch] = [each for each in self.found["branches"] if self.is_decay(each["sequences"]["lr"], shape, end)]
                self.assertEqual((branch["from_step"], branch["rates"][0]), (90, 0.01))
                self.assertAlmostEqual(branch["rates"][1], 0.01 - (0.01 - end) * part(1 / 10), places=12)
        other = self.found["branches"][-1]
        self.assertEqual((other["from_step"], other["rates"]), (90, [0.002, 0.002]))
        self.assertEqual({name: other["sequences"][name] for name in ("bs", "length", "mix")},
                         {"bs": "Piecewise([8, 16], [90])", "length": "Piecewise([64, 128], [90])", "mix": "Piecewise([0.0, 0.5], [90])"})

    @staticmethod
    def is_decay(lr, shape, end):
        ends_there = f"Cooldown(0.01, {float(end)}, 10" in lr
        return ends_there and (f'shape="{shape}"' in lr if shape != "linear" else "shape" not in lr)

    def test_any_other_mixture_is_trained_for_its_own_bound(self):
        found = self.trained("--budgets", "20,30", "--decays", "0.1,0.2", "--shapes", "sqrt", "--ends", "0")
        self.assertEqual([(each["from_step"], each["steps"]) for each in found["branches"]], [(16, 20), (18, 20), (24, 30), (27, 30), (27, 30)])
        for each in found["saved"]:
            self.assertEqual(each["steps_saved"], each["bound"])
        self.assertEqual(found["saved"][0]["steps_trained"], 27 + 4 + 2 + 6 + 3)

    def test_the_study_file_says_the_same_trainings(self):
        text = (TRUNK / "decays.yaml").read_text()
        self.assertIn("data: /tmp/licences\n", text)
        file = self.service.write("decays.yaml", text.replace("/tmp/licences", str(self.texts)))
        forecast = self.service.json("study", "forecast", file)
        self.assertEqual((forecast["total_steps"], forecast["unique_steps"]), (1100, 200))
        self.service.run("study", "run", file)
        self.assertEqual(self.service.json("study", "show", "decays")["steps"]["trained"], 200)
        states = {each["state_sha256"] for each in self.service.json("trial", "list", "decays")}
        self.assertEqual(states, {each["state_sha256"] for each in self.found["branches"]})


if __name__ == "__main__":
    unittest.main()
