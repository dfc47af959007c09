"""`espalier trainer check` of programs, without a server: the built-in trainers, and one in Go."""

import json
import pathlib
import shlex
import subprocess
import unittest

import test_go_worker as go_worker
from service import BIN


def setUpModule():
    go_worker.setUpModule()


def tearDownModule():
    go_worker.tearDownModule()


def check(*arguments):
    return subprocess.run([BIN / "espalier", "trainer", "check", *map(str, arguments)], capture_output=True, text=True, check=False)


class TrainerCheckTest(unittest.TestCase):
    def test_the_built_in_network_passes_under_each_optimizer(self):
        for optimizer in ("sgd", "adam"):
            checked = check("mlp", "--set", f"optimizer={optimizer}", "--set", "momentum=0.9", "--output", "json")
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
            report = json.loads(checked.stdout)
            self.assertTrue(report["passed"])
            self.assertEqual({change["name"] for change in report["changes"]} >= {"lr", "bs"}, True, report["changes"])
            self.assertTrue(all(each["same"] for each in report["passes"]))

    def test_a_worker_in_another_language_passes(self):
        checked = check("regression", "--worker", shlex.quote(str(go_worker.WORKER)))
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertIn("passed", checked.stdout)

    def test_values_and_step_come_from_a_study_file(self):
        study = go_worker.FOLDER / "study.yaml"
        study.write_text("""
study: checked
trainer: mlp
data: digits
step: 3 updates
hyper_parameters:
  lr: ["Exponential(0.05, 0.9)", 0.1]
  seed: 5
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 8}}
""")
        checked = check(study, "--output", "json")
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        report = json.loads(checked.stdout)
        self.assertEqual((report["values"]["lr"], report["values"]["seed"], report["step"]), (0.05, 5, 3))
        self.assertNotIn("lr", [change["name"] for change in report["changes"]])

    def test_what_cannot_be_checked_is_said_with_the_option_and_no_state_is_left_behind(self):
        before = set(pathlib.Path("/tmp").glob("espalier-check-*"))
        for arguments, named in ((["unheard-of"], "TRAINER"), (["mlp", "--set", "lr"], "--set"), (["mlp", "--set", "depht=2"], "depht"),
                                 (["mlp", "--steps", "2"], "--steps"), (["nowhere.py:Trainer"], "--trainer"),
                                 (["mlp", "--worker", "/nowhere/worker"], "/nowhere/worker")):
            refused = check(*arguments)
            self.assertIn(refused.returncode, (1, 2), arguments)
            self.assertIn(named, refused.stderr, arguments)
            self.assertEqual(refused.stdout, "", arguments)
        self.assertLessEqual(set(pathlib.Path("/tmp").glob("espalier-check-*")), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
