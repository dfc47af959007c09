"""examples/thesis/cpp: the client library's own user program, run as its readers run it."""

import subprocess
import unittest

from early_stopping import check_thesis_study
from service import BIN, Service


class ThesisTest(unittest.TestCase):
    def test_a_program_on_the_client_library_stops_trials_by_milestones(self):
        with Service() as service:
            done = self.run_study(service)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?m)^trial \d+ at step 7, test_acc 0\.\d+")
            check_thesis_study(self, service)
            self.assertEqual(self.run_study(service).stdout.count("test_acc"), 5)
            self.assertEqual(service.json("study", "show", "thesis")["steps"]["trained"], 0)

    def test_without_a_server_it_says_what_is_missing(self):
        service = Service()
        done = self.run_study(service)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"no server has written its address to {service.data}/address", done.stderr)
        service.root.rmdir()

    @staticmethod
    def run_study(service):
        return subprocess.run([BIN / "thesis-study"], env=service.environment(), capture_output=True, text=True, timeout=600, check=False)


if __name__ == "__main__":
    unittest.main(verbosity=2)
