"""What users' code prints reaches whoever owns the trial, from all servers and runs that trained it. Runs with the interpreter in the
environment's ESPALIER_PYTORCH, which has PyTorch."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from service import PATIENCE_SECONDS, Service, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ["ESPALIER_PYTORCH"]
os.environ["PYTHONPATH"] = str(ROOT / "client" / "python")


def study(name, lr, steps, more=""):
    listed = ", ".join(f'"{text}"' if "(" in text else text for text in lr)
    return f"""
study: {name}
trainer: Talking
step: epoch
hyper_parameters: {{lr: [{listed}]{more}}}
metric: {{name: score, goal: max}}
tuner: {{grid: {{steps: {steps}}}}}
"""


class TrialLogsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service(up_options=["--trainer", ROOT / "tests/e2e/talking_trainer.py:Talking", "--python", PYTHON],
                              worker=os.path.basename(os.path.realpath(PYTHON)))
        cls.service.start()

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__(None, None, None)

    def run_study(self, name, lr, steps, more=""):
        """The trials, in the order of `lr`."""
        self.service.run("study", "run", self.service.write(f"{name}.yaml", study(name, lr, steps, more)), check=False)
        trials = {trial["sequences"]["lr"]: trial["id"] for trial in self.service.json("trial", "list", name)}
        return [trials[text] for text in lr]

    def logs_with(self, trial, last):
        """The trial's logs once they have the text that is printed last: they come a moment after the results."""
        def found():
            pieces = self.service.json("trial", "logs", trial)
            return any(last in piece["text"] for piece in pieces) and pieces
        return wait_until(found, f"the logs of trial {trial} have '{last}'")

    def test_a_trials_logs_are_what_was_printed_on_its_own_way(self):
        first, second = self.run_study("parted", ["0.1", "Piecewise([0.1, 0.01], [3])"], 6)
        by_trial = {}
        for trial, lr in ((first, 0.1), (second, 0.01)):
            pieces = self.logs_with(trial, "step 6")
            text = "".join(piece["text"] for piece in pieces)
            self.assertIn("hello from init", text)
            self.assertIn("evaluated at 6", text)
            steps = re.findall(r"^step (\d) lr ([\d.]+)$", text, re.MULTILINE)
            self.assertEqual([(int(step), float(value)) for step, value in steps],
                             [(step, 0.1 if step <= 3 else lr) for step in range(1, 7)])
            self.assertEqual(re.findall(r"^warning (\d)$", text, re.MULTILINE), list("123456"))
            by_trial[trial] = pieces
        shared = [piece for piece in by_trial[first] if piece in by_trial[second]]
        self.assertTrue(any("step 1" in piece["text"] for piece in shared))  # one run trained it for both
        self.assertEqual({piece["server"] for piece in by_trial[first]}, {each["name"] for each in self.service.servers()})

        text = subprocess.run([each for each in self.service.command("trial", "logs", second) if each not in ("--output", "json")],
                              env=self.service.environment(), capture_output=True, text=True, check=True).stdout
        self.assertRegex(text, r"\A--- run \d+ on \S+/\d")
        self.assertIn("step 6 lr 0.01\n", text)

    def test_the_traceback_of_a_trainer_that_fails_is_in_its_trials_logs(self):
        (trial,) = self.run_study("failing", ["0.3"], 4, ", fail_at: 3")
        text = "".join(piece["text"] for piece in self.logs_with(trial, "as told"))
        self.assertIn("Traceback (most recent call last)", text)
        self.assertIn("talking_trainer.py", text)
        self.assertIn("RuntimeError: this step fails as told", text)
        self.assertLess(text.index("step 3"), text.index("Traceback"))

    def test_a_flood_is_cut_and_says_so(self):
        (trial,) = self.run_study("flooding", ["0.5"], 3, ", flood: 60000")  # 6 MB a step
        pieces = self.logs_with(trial, "step 3")
        self.assertLess(sum(len(piece["text"]) for piece in pieces), 320 << 10)
        text = subprocess.run([each for each in self.service.command("trial", "logs", trial) if each not in ("--output", "json")],
                              env=self.service.environment(), capture_output=True, text=True, check=True).stdout
        self.assertRegex(text, r"--- [\d.]+ [kM]B are not kept, or belong to other trials ---")
        self.assertIn("step 3 lr 0.5\n", text)

    def test_another_team_does_not_find_the_trial(self):
        (trial,) = self.run_study("private", ["0.7"], 1)
        token = self.service.json("user", "add", "bob", "--team", "speech")["token"]
        for number in (trial, 999):
            refused = subprocess.run(self.service.command("trial", "logs", number), capture_output=True, text=True, check=False,
                                     env=dict(self.service.environment(), ESPALIER_TOKEN=token), timeout=PATIENCE_SECONDS)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn(f"no trial {number}", refused.stderr)

    def test_following_shows_all_and_ends_with_the_trial(self):
        self.service.write("followed.yaml", study("followed", ["0.9"], 40))
        running = self.service.begin("study", "run", self.service.root / "followed.yaml")
        wait_until(lambda: self.service.run("trial", "list", "followed", check=False).returncode == 0
                   and self.service.json("trial", "list", "followed"), "the trial exists")
        trial = self.service.json("trial", "list", "followed")[0]["id"]
        command = [each for each in self.service.command("trial", "logs", trial, "--follow") if each not in ("--output", "json")]
        shown = subprocess.run(command, env=self.service.environment(), capture_output=True, text=True, check=True,
                               timeout=PATIENCE_SECONDS).stdout
        _, errors = running.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(running.returncode, 0, errors)
        self.assertEqual(re.findall(r"^step (\d+) ", shown, re.MULTILINE), [str(step) for step in range(1, 41)])
        self.assertEqual(json.loads(self.service.run("trial", "list", "followed").stdout)[0]["state"], "done")


if __name__ == "__main__":
    unittest.main(verbosity=2)
