"""What users take out of a study: its best trial and every metric; and a trial that they take out of it."""

import csv
import io
import json
import subprocess
import unittest

from service import BIN, Service, wait_until

STUDY = """
study: curves
trainer: synthetic
hyper_parameters:
  a: ["Piecewise([0, 1], [4])", "Piecewise([0, 2], [4])", 3]
evaluate: {every: 2}
metric: {name: test_acc, goal: max}
tuner: {sha: {min: 4, max: 8, reduction: 2}}
"""

SLOW = """
study: slow
trainer: synthetic
hyper_parameters:
  a: [1, 2, 3]
  step_seconds: 0.05
metric: {name: test_acc, goal: max}
tuner: {sha: {min: 40, max: 80, reduction: 2}}
"""


def exported(service, *arguments):
    """What `study export` prints; its output is of another form than other commands'."""
    return subprocess.run([BIN / "espalier", "study", "export", *arguments], env=service.environment(), capture_output=True, text=True,
                          check=True, stdin=subprocess.DEVNULL).stdout


class ResultsTest(unittest.TestCase):
    def test_the_best_trial_has_a_state_and_the_export_every_metric_that_trials_have(self):
        with Service() as service:
            service.run("study", "run", service.write("study.yaml", STUDY))
            trials = service.json("trial", "list", "curves", "--sort", "metric")
            best = service.json("study", "best", "curves")
            self.assertEqual((best["trial"], best["value"], best["step"], best["sequences"], best["state_sha256"]),
                             (trials[0]["id"], trials[0]["metric"], 8, trials[0]["sequences"], trials[0]["state_sha256"]))
            self.assertEqual((service.data / "checkpoints" / best["checkpoint"]["file"]).stat().st_size, best["checkpoint"]["bytes"])

            rows = list(csv.DictReader(io.StringIO(exported(service, "curves"))))
            shown = [(trial["id"], trial["sequences"]["a"], point["step"], point["metrics"]["test_acc"])
                     for trial in service.json("trial", "list", "curves")
                     for point in service.json("trial", "show", trial["id"])["metrics"]]
            self.assertEqual([(int(row["trial"]), row["a"], int(row["step"]), float(row["test_acc"])) for row in rows], shown)
            self.assertIn(2, [step for _, _, step, _ in shown])  # where no claim asked, too
            lines = [json.loads(line) for line in exported(service, "curves", "--format", "jsonl").splitlines()]
            self.assertEqual([(line["trial"], line["sequences"]["a"], line["step"], line["metrics"]["test_acc"]) for line in lines], shown)
            with open("/dev/full", "w") as full:
                cut = subprocess.run([BIN / "espalier", "study", "export", "curves"], env=service.environment(), stdout=full,
                                     stderr=subprocess.PIPE, text=True, check=False, stdin=subprocess.DEVNULL)
            self.assertEqual((cut.returncode, cut.stderr), (1, "espalier: cannot write all of it; is the disk full?\n"))

    def test_a_study_goes_on_without_a_trial_that_its_user_cancels(self):
        with Service() as service:
            run = service.begin("study", "run", service.write("slow.yaml", SLOW))
            trials = wait_until(lambda: json.loads(service.run("trial", "list", "slow", check=False).stdout or "[]"), "there are trials")
            cancelled = trials[0]["id"]
            self.assertEqual(service.json("trial", "cancel", cancelled)["state"], "cancelled")
            told, errors = run.communicate(timeout=300)
            self.assertEqual(run.returncode, 0, errors)
            self.assertEqual(json.loads(told)["trials"]["by_state"], {"cancelled": 1, "done": 2})
            self.assertNotEqual(service.json("study", "best", "slow")["trial"], cancelled)
            late = service.run("trial", "cancel", cancelled, check=False)
            self.assertEqual(late.returncode, 1)
            self.assertIn("takes no more", late.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
