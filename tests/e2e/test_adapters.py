"""A LightningModule on a real service. Runs with the interpreter in the environment's ESPALIER_PYTORCH, which has Lightning."""

import os
import shutil
import unittest

from service import Service, results, wait_until
from test_python_trainer import PYTHON, ROOT, service_with


def digits(name, share, trainer="Digits"):
    return f"""
study: {name}
trainer: {trainer}
step: 20 updates
hyper_parameters:
  lr: [0.05, "MultiStep(0.05, [3], gamma=0.1)"]
  batch_size: [32, "MultiStep(32, [2], gamma=2)"]
metric: {{name: val_acc, goal: max}}
tuner: {{grid: {{steps: 5}}}}
share: {share}
"""


class AdaptersTest(unittest.TestCase):
    def test_trials_of_a_lightning_module_on_shared_stages_end_as_if_each_had_been_trained_alone_also_when_a_worker_dies(self):
        with service_with(ROOT / "examples/lightning/train.py:Digits") as service:
            service.run("study", "run", service.write("alone.yaml", digits("alone", "nobody")))
            running = service.begin("study", "run", service.write("shared.yaml", digits("shared", "study")))
            wait_until(lambda: running.poll() is not None or trained(service) >= 3, "step 3 is trained")
            service.kill("worker", 0)
            _, errors = running.communicate()
            self.assertEqual(running.returncode, 0, errors)
            self.assertEqual(results(service, "shared"), results(service, "alone"))
            shared, alone = (service.json("study", "show", name)["steps"] for name in ("shared", "alone"))
            self.assertLess(shared["unique"], alone["unique"])
            self.assertEqual(shared["wasted"], 0)


    def test_the_example_travels_with_a_study_file_to_a_service_that_never_heard_of_it(self):
        with Service(worker=os.path.basename(os.path.realpath(PYTHON))) as service:
            shutil.copytree(ROOT / "examples/lightning", service.root / "lightning")
            shutil.copytree(service.root / "lightning", service.root / "elsewhere")
            for folder, trained in [("lightning", True), ("elsewhere", False)]:
                text = digits(folder, "team", f"{folder}/train.py:Digits") + f"python: {PYTHON}\n"
                service.run("study", "run", service.write(f"{folder}.yaml", text))
                self.assertEqual(service.json("study", "show", folder)["steps"]["trained"] > 0, trained)
            self.assertEqual(results(service, "lightning"), results(service, "elsewhere"))
            self.assertEqual({trial["state"] for trial in service.json("trial", "list", "lightning")}, {"done"})


def trained(service):
    shown = service.run("study", "show", "shared", check=False)
    return service.json("study", "show", "shared")["steps"]["trained"] if shown.returncode == 0 else 0


if __name__ == "__main__":
    unittest.main()
