"""Users' own PyTorch code on a real service. Runs with the interpreter in the environment's ESPALIER_PYTORCH, which has PyTorch."""

import os
import pathlib
import random
import subprocess
import unittest

from service import BIN, Service, results, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ["ESPALIER_PYTORCH"]
os.environ["PYTHONPATH"] = str(ROOT / "client" / "python")


def digits_cnn(name, share="study", steps=6):
    return f"""
study: {name}
trainer: digits_cnn
step: 10 updates
hyper_parameters:
  lr: [0.05, "MultiStep(0.05, [4], gamma=0.1)", "Exponential(0.05, 0.9)"]
  bs: [64, "MultiStep(64, [4], gamma=2)"]
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: {steps}}}}}
share: {share}
"""


def service_with(trainer):
    # Which program an interpreter in a virtual environment really is.
    worker = os.path.basename(os.path.realpath(PYTHON))
    return Service(up_options=["--trainer", trainer, "--python", PYTHON], worker=worker)


class PythonTrainerTest(unittest.TestCase):
    def test_trials_on_shared_stages_end_as_if_each_had_been_trained_alone_whatever_dies_on_the_way(self):
        seed = int(os.environ.get("ESPALIER_SEED", random.randrange(2**32)))
        print(f"ESPALIER_SEED={seed}")
        draw = random.Random(seed)
        with service_with(ROOT / "examples/pytorch/digits_cnn.py:main") as service:
            service.run("study", "run", service.write("alone.yaml", digits_cnn("alone", share="nobody")))
            alone = service.json("study", "show", "alone")
            running = service.begin("study", "run", service.write("shared.yaml", digits_cnn("shared")))
            for step in sorted(draw.sample(range(1, alone["steps"]["trained"] // 2), 3)):
                wait_until(lambda: running.poll() is not None or self.trained(service, "shared") >= step, f"step {step} is trained")
                service.kill("worker", draw.randrange(4))
            _, errors = running.communicate()
            self.assertEqual(running.returncode, 0, errors)
            shared = service.json("study", "show", "shared")
            self.assertEqual(results(service, "shared"), results(service, "alone"))
            self.assertEqual(self.training_metrics(service, "shared"), self.training_metrics(service, "alone"))
            self.assertLess(shared["steps"]["unique"], alone["steps"]["unique"])
            self.assertEqual(shared["steps"]["wasted"], 0)

    def training_metrics(self, service, study):
        of_trials = []
        for trial in service.json("trial", "list", study):
            metrics = service.json("trial", "show", trial["id"])["training_metrics"]
            self.assertEqual(metrics["loss"]["steps"], list(range(1, trial["steps"] + 1)))
            of_trials.append((sorted(trial["sequences"].items()), metrics))
        return sorted(of_trials, key=str)

    @staticmethod
    def trained(service, study):
        shown = service.run("study", "show", study, check=False)
        return service.json("study", "show", study)["steps"]["trained"] if shown.returncode == 0 else 0

    def test_a_training_that_its_trainer_finishes_answers_for_all_steps_beyond_with_its_last_metrics(self):
        for trainer in ("Finishing", "main"):
            with self.subTest(trainer), service_with(ROOT / f"tests/e2e/finishing_trainers.py:{trainer}") as service:
                name = "Finishing" if trainer == "Finishing" else "finishing_trainers"
                for study, share, steps in (("known", "nobody", 2), ("alone", "nobody", 6), ("shared", "study", 6)):
                    service.run("study", "run", service.write(f"{study}.yaml", f"""
study: {study}
trainer: {name}
step: 1 update
hyper_parameters:
  lr: [0.1, "MultiStep(0.1, [2], gamma=0.5)", "MultiStep(0.1, [4], gamma=0.5)"]
  patience: [{"2" if study == "known" else "2, 5, 9"}]
metric: {{name: sum, goal: min}}
tuner: {{grid: {{steps: {steps}}}}}
share: {share}
"""))
                self.assertEqual(results(service, "shared"), results(service, "alone"))
                trials = service.json("trial", "list", "shared")
                self.assertEqual({trial["state"] for trial in trials}, {"done"})
                steps = [(int(trial["sequences"]["patience"]), trial["steps"]) for trial in trials]
                self.assertEqual(sorted(steps), [(2, 2)] * 3 + [(5, 5)] * 3 + [(9, 6)] * 3)
                best = service.json("study", "show", "shared")["best"]
                self.assertEqual([trial["steps"] for trial in trials if trial["id"] == best["trial"]], [best["step"]])
                known = service.json("trial", "list", "known")[0]
                for trial in trials:
                    self.assertNotEqual(trial["state_sha256"], "")
                    if trial["steps"] == 2:
                        self.assertEqual((trial["metric"], trial["state_sha256"]), (known["metric"], known["state_sha256"]))

    def test_what_a_trainer_says_when_it_fails_reaches_the_user(self):
        with service_with(ROOT / "tests/e2e/failing_trainer.py:Failing") as service:
            file = service.write("failing.yaml", """
study: failing
trainer: Failing
step: epoch
hyper_parameters: {lr: 0.1}
metric: {name: score, goal: max}
tuner: {grid: {steps: 3}}
""")
            service.run("study", "run", file, check=False)
            self.assertEqual([trial["state"] for trial in service.json("trial", "list", "failing")], ["failed"])
            said = str(service.json("stage", "explain", "1@2"))
            self.assertIn("the second step fails as told", said)
            self.assertIn("failing_trainer.py", said)  # the traceback

    def test_a_trainer_that_cannot_be_imported_is_refused_before_anything_is_started(self):
        for trainer, expected in [("nowhere.py:Digits", "FILE.py:NAME"),
                                  (f"{ROOT}/examples/pytorch/digits_cnn.py:Nobody", "Nobody"),
                                  (f"{ROOT}/tests/e2e/broken_trainer.py:Broken", "no_such_package")]:
            with self.subTest(trainer=trainer):
                refused = subprocess.run([BIN / "espalier", "up", "--data", "/nowhere", "--trainer", trainer, "--python", PYTHON],
                                         capture_output=True, text=True)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(expected, refused.stderr)


if __name__ == "__main__":
    unittest.main()
