"""The checkpoint store is away while a study runs, as a folder is that is not mounted: nothing is dropped, what keeps the study
is told, and once the store is back the study goes on by itself to the same result, without a step trained twice."""

import subprocess
import unittest

from service import BIN, Service, results, wait_until

STUDY = """
study: {name}
trainer: synthetic
hyper_parameters:
  a: ["Piecewise([0, 1], [4])", "Piecewise([0, 2], [4])", "Piecewise([0, 3], [6])", "Piecewise([5, 4], [2])"]
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: 8}}}}
share: study
"""


def staged(service):
    return [file for file in service.data.rglob("staging/*") if file.is_file()]


def troubles(service):
    return [server["trouble"] for server in service.json("server", "list") if server["trouble"]]


class StoreAwayTest(unittest.TestCase):
    def test_a_store_that_is_away_for_a_while_costs_nothing(self):
        with Service() as service:
            service.run("study", "run", service.write("study.yaml", STUDY.format(name="undisturbed")))
            expected = results(service, "undisturbed")
            store = service.data / "checkpoints"
            self.assertTrue((store / ".espalier-store").exists())
            elsewhere = service.root / "elsewhere"

            store.rename(elsewhere)
            store.mkdir()
            run = service.begin("study", "run", service.write("study.yaml", STUDY.format(name="away")))
            wait_until(lambda: troubles(service), "the server says what is wrong")
            self.assertIn("checkpoints wait in staging: cannot find the checkpoint store", troubles(service)[0])
            self.assertGreater(len(staged(service)), 0)
            self.assertEqual(list(store.iterdir()), [])
            listed = subprocess.run([BIN / "espalier", "server", "list"], env=service.environment(), capture_output=True, text=True)
            self.assertIn(": checkpoints wait in staging", listed.stdout)
            self.assertIsNone(run.poll())

            store.rmdir()
            elsewhere.rename(store)
            _, errors = run.communicate(timeout=300)
            self.assertEqual(run.returncode, 0, errors)
            self.assertEqual(results(service, "away"), expected)
            steps = service.json("study", "show", "away")["steps"]
            self.assertEqual(steps["trained"], steps["unique"])
            self.assertEqual((steps["wasted"], steps["re_derived"]), (0, 0))
            wait_until(lambda: not troubles(service), "the trouble is over")
            wait_until(lambda: not staged(service), "all is in the store")

    def test_a_run_waits_for_its_start_while_the_store_is_away(self):
        with Service() as service:
            service.run("study", "run", service.write("study.yaml", STUDY.format(name="first")))
            store = service.data / "checkpoints"
            elsewhere = service.root / "elsewhere"
            store.rename(elsewhere)
            # more trials than slots: at most one a slot goes on where its worker stands, without a checkpoint
            trials = [str(trial["id"]) for trial in service.json("trial", "list", "first")]
            self.assertGreater(len(trials), service.slots)
            runs = [service.begin("trial", "extend", trial, "--steps", "12") for trial in trials]
            wait_until(lambda: any("runs wait for their checkpoints" in trouble for trouble in troubles(service)),
                       "the server says what the run waits for")
            elsewhere.rename(store)
            for run in runs:
                _, errors = run.communicate(timeout=300)
                self.assertEqual(run.returncode, 0, errors)
            steps = service.json("study", "show", "first")["steps"]
            self.assertEqual((steps["wasted"], steps["re_derived"]), (0, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
