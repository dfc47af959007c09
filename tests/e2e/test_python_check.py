"""`espalier trainer check` of trainers in Python: sound ones pass, and each mistake that people make is found and named. Runs with the
interpreter in the environment's ESPALIER_PYTORCH, which has PyTorch."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import unittest

from service import BIN

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PYTHON = os.environ["ESPALIER_PYTORCH"]
os.environ["PYTHONPATH"] = str(ROOT / "client" / "python")

# The trainer in mistaken_trainers.py: what is seen to differ, after what, and what the report has to say.
MISTAKES = {
    "WithoutOptimizer": ("state", "resumed at step 1", ["train() changes optimizer (SGD)", "momentum"]),
    "WithoutCounter": ("training", "resumed at step 1", ["train() changes count (int)"]),
    "OwnGenerator": ("failure", "begun", ["NOISE: training draws from a generator that no state holds"]),
    "RebuiltLoader": ("training", "resumed at step 1", ["train() changes batches_left", "built anew in mid-epoch"]),
    "PersistentWorkers": ("training", "resumed at step 1", ["train() changes loader (DataLoader)", "persistent workers"]),
    "DataInPlace": ("evaluation", "resumed at step 1", ["train() changes points (Tensor)"]),
    "StaleRate": ("state", "resumed at step 4", ["a stale value is in use after loading"]),
    "EvaluatesInTrainingMode": ("state", "evaluated at step 1", ["batch-norm statistics", "eval()"]),
    "LeavesSomething": ("training", "begun again", ["An earlier training in the same process has left something"]),
    "Unrepeatable": ("training", "begun in a new process", ["The training is not repeatable"]),
    "ForgetsToLoad": ("state", "resumed at step 1", ["loading does not put back the optimizer"]),
    "Fails": ("failure", "evaluated", ["LookupError: there is no such measure"]),
}
SOUND = [FOLDER / "mistaken_trainers.py:Sound", FOLDER / "mistaken_trainers.py:Hashes", FOLDER / "mistaken_trainers.py:DislikesLargeBatches",
         ROOT / "examples/pytorch/digits_cnn.py:main", ROOT / "examples/pytorch/digits_mlp.py:Digits"]


def check(trainer):
    checked = subprocess.run([BIN / "espalier", "trainer", "check", str(trainer), "--python", PYTHON, "--output", "json"],
                             capture_output=True, text=True, check=False)
    return checked.returncode, checked.stderr, json.loads(checked.stdout or "null")


def check_all(trainers):
    """Two at a time: a check waits for its processes to start most of the time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(trainers, pool.map(check, trainers)))


class PythonCheckTest(unittest.TestCase):
    def test_sound_trainers_pass(self):
        for trainer, (code, errors, report) in check_all(SOUND).items():
            with self.subTest(trainer=trainer):
                self.assertEqual(code, 0, (errors, report))
                self.assertTrue(report["passed"])

    def test_a_value_that_the_trainer_does_not_take_is_not_held_against_it(self):
        _, _, report = check(FOLDER / "mistaken_trainers.py:DislikesLargeBatches")
        self.assertEqual([each["change"]["name"] for each in report["not_tried"]], ["bs"])
        self.assertIn("too large", report["not_tried"][0]["reason"])

    def test_each_mistake_is_found_and_named(self):
        found = check_all([FOLDER / f"mistaken_trainers.py:{name}" for name in MISTAKES])
        for (name, (observed, after, words)), (code, errors, report) in zip(MISTAKES.items(), found.values()):
            with self.subTest(mistake=name):
                self.assertEqual(code, 1, (errors, report))
                finding = report["finding"]
                self.assertEqual(finding["observed"], observed, finding)
                self.assertIn(after, finding["after"])
                said = "\n".join([finding["cause"], finding["message"], *report["said"]])
                for each in words:
                    self.assertIn(each, said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
