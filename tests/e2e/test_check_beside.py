"""Trainers in users' own code are checked beside their first study: a sound one once, and a study of one that cannot be cut is stopped
and says why. Runs with the interpreter in the environment's ESPALIER_PYTORCH, which has PyTorch."""

import json
import os
import pathlib
import shutil
import unittest

from service import PATIENCE_SECONDS, Service, wait_until

FOLDER = pathlib.Path(__file__).resolve().parent
PYTHON = os.environ["ESPALIER_PYTORCH"]
os.environ["PYTHONPATH"] = str(FOLDER.parents[1] / "client" / "python")


def study(name, trainer, trials=1, steps=4):
    rates = ", ".join(str(0.05 + trial / 100) for trial in range(trials))
    return f"""
study: {name}
trainer: mistaken_trainers.py:{trainer}
python: {PYTHON}
step: 1 updates
hyper_parameters:
  lr: [{rates}]
metric: {{name: test_loss, goal: min}}
tuner: {{grid: {{steps: {steps}}}}}
"""


class Checking(Service):
    def __init__(self, slots=2):
        super().__init__(slots=slots, worker=os.path.basename(os.path.realpath(PYTHON)))
        shutil.copy(FOLDER / "mistaken_trainers.py", self.root)

    def run_study(self, name, trainer, check, **parts):
        return self.run("study", "run", self.write(f"{name}.yaml", study(name, trainer, **parts)), "--check", check, check=False)

    def begin_study(self, name, trainer, check, **parts):
        return self.begin("study", "run", self.write(f"{name}.yaml", study(name, trainer, **parts)), "--check", check)

    def check_of(self, name):
        shown = self.run("study", "show", name, check=False)
        return json.loads(shown.stdout)["check"]["state"] if shown.returncode == 0 else ""

    def checks(self):
        """The processes of checks that live."""
        return [pid for pid in os.listdir("/proc") if pid.isdigit() and self.is_check(pid)]

    def is_check(self, pid):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return words[0].endswith(b"espalier-check") and os.fsencode(self.data) in words[1]


class CheckBesideTest(unittest.TestCase):
    def test_a_sound_trainer_is_checked_once_whatever_is_killed_meanwhile(self):
        with Checking(slots=1) as service:
            running = service.begin_study("sound", "Sound", "first")
            wait_until(lambda: service.checks(), "the check runs")
            self.assertEqual(service.check_of("sound"), "running")
            os.kill(int(service.checks()[0]), 9)
            wait_until(lambda: service.checks(), "the check is tried again")
            service.kill("node")
            wait_until(lambda: service.checks(), "the check runs on the node manager that comes after")
            service.kill("master")
            _, errors = running.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(running.returncode, 0, errors)
            self.assertEqual(service.check_of("sound"), "passed")
            again = service.run_study("again", "Sound", "beside")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(service.check_of("again"), "passed")

    def test_a_study_whose_trainer_fails_the_check_is_stopped_and_later_ones_are_refused_unless_they_say_off(self):
        with Checking() as service:
            # So long that the check is done before.
            stopped = service.run_study("long", "WithoutOptimizer", "beside", steps=1_000_000)
            self.assertEqual(stopped.returncode, 1)
            for words in ("the study was stopped", "train() changes optimizer (SGD)", "usual cause: "):
                self.assertIn(words, stopped.stderr)
            shown = service.json("study", "show", "long")
            self.assertEqual((shown["state"], shown["check"]["state"]), ("finished", "failed"))
            trial = service.json("trial", "list", "long")[0]
            self.assertEqual(trial["state"], "failed")
            self.assertIn("momentum", trial["message"])

            refused = service.run_study("refused", "WithoutOptimizer", "beside")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("train() changes optimizer (SGD)", refused.stderr)
            let_be = service.run_study("let be", "WithoutOptimizer", "off")
            self.assertEqual(let_be.returncode, 0, let_be.stderr)
            self.assertEqual(service.check_of("let be"), "off")
            self.assertEqual(service.checks(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
