"""examples/thesis/python as its readers run it: with the built-in trainer, and with that of the thesis."""

import os
import pathlib
import subprocess
import sys
import unittest

from early_stopping import check_thesis_study
from service import BIN, Service

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "examples" / "thesis" / "python" / "study.py"
os.environ["PYTHONPATH"] = str(ROOT / "client" / "python")  # of workers, too


class ThesisTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service(worker=os.path.basename(os.path.realpath(sys.executable))))

    def run_study(self, *options):
        done = subprocess.run([sys.executable, PROGRAM, *options], env=self.service.environment(), capture_output=True, text=True, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"trial \d+ at step 7: test_acc 0\.\d+")
        check_thesis_study(self, self.service)
        return self.service.json("study", "show", "thesis")

    def test_a_search_space_of_sequences_is_tuned_by_milestones(self):
        shown = self.run_study()
        self.assertLess(shown["steps"]["unique"], shown["steps"]["claimed"])
        self.assertGreater(shown["best"]["value"], 0.8)
        subprocess.run([BIN / "thesis-study"], env=self.service.environment(), check=True, capture_output=True, timeout=600)
        in_cpp = self.service.json("study", "show", "thesis")
        self.assertNotEqual(in_cpp["id"], shown["id"])
        self.assertEqual((in_cpp["steps"]["unique"], in_cpp["steps"]["trained"]), (shown["steps"]["unique"], 0))

    def test_so_is_it_with_a_trainer_whose_setup_changes_learning_rate_and_batch_size(self):
        self.assertGreater(self.run_study("--own-trainer")["best"]["value"], 0.8)


if __name__ == "__main__":
    unittest.main()
