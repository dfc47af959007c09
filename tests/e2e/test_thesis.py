"""examples/thesis/cpp: a user's program on the client library, and a user's trainer, run as their readers run them."""

import json
import shlex
import subprocess
import unittest

from early_stopping import check_thesis_study
from service import BIN, Service

LIBRARY = BIN / "libmy_trainer.so"


class ThesisTest(unittest.TestCase):
    def test_a_program_on_the_client_library_stops_trials_by_milestones(self):
        with Service() as service:
            done = run_study(service)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?m)^trial \d+ at step 7, test_acc 0\.\d+")
            check_thesis_study(self, service)
            self.assertEqual(run_study(service).stdout.count("test_acc"), 5)
            self.assertEqual(service.json("study", "show", "thesis")["steps"]["trained"], 0)

    def test_so_it_does_with_a_trainer_whose_setup_changes_learning_rate_and_batch_size(self):
        with Service(up_options=["--worker", shlex.join(worker())]) as service:
            done = run_study(service, "my_trainer")
            self.assertEqual(done.returncode, 0, done.stderr)
            check_thesis_study(self, service)
            self.assertGreater(service.json("study", "show", "thesis")["best"]["value"], 0.8)

    def test_that_trainer_can_be_cut_anywhere(self):
        command = [BIN / "espalier", "trainer", "check", "my_trainer", "--worker", shlex.join(worker()), "--output", "json"]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        report = json.loads(checked.stdout)
        self.assertTrue(report["passed"])
        self.assertEqual(sorted(change["name"] for change in report["changes"]), ["bs", "lr"])

    def test_without_a_server_it_says_what_is_missing(self):
        service = Service()
        done = run_study(service)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"no server has written its address to {service.data}/address", done.stderr)
        service.root.rmdir()


def run_study(service, *trainer):
    return subprocess.run([BIN / "thesis-study", *trainer], env=service.environment(), capture_output=True, text=True, timeout=600, check=False)


def worker():
    return [str(BIN / "espalier-worker"), "--trainer", str(LIBRARY), "--data", "digits"]


if __name__ == "__main__":
    unittest.main(verbosity=2)
