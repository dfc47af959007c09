"""What a study names by itself, without the service being told before: a folder of data for a built-in trainer, a line that starts a
worker. (A library is tested where one is built: test_cpp_trainer.py.)"""

import random
import unittest

from service import BIN, Service, results


def study(name, trainer, more="", steps=4):
    return f"""
study: {name}
trainer: {trainer}
{more}
step: 5 updates
hyper_parameters:
  lr: [0.1, "MultiStep(0.1, [2], gamma=0.1)"]
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: {steps}}}}}
"""


def write_points(folder, seed):
    """Two clouds of points in a plane, a class each."""
    folder.mkdir(exist_ok=True)
    draw = random.Random(seed)
    for name, count in (("train.csv", 200), ("test.csv", 50)):
        rows = [f"{draw.gauss(side, 1)},{draw.gauss(-side, 1)},{'right' if side > 0 else 'left'}" for side in (1, -1) for _ in range(count)]
        (folder / name).write_text("x,y,label\n" + "\n".join(rows) + "\n")


class OwnTrainersTest(unittest.TestCase):
    def run_study(self, service, name, *arguments, **more):
        return service.run("study", "run", service.write(f"{name}.yaml", study(name, *arguments, **more)), check=False)

    def trained(self, service, name):
        return service.json("study", "show", name)["steps"]["trained"]

    def test_a_folder_of_data_beside_the_study_file_is_trained_on_and_other_content_is_another_training(self):
        with Service() as service:
            write_points(service.root / "points", seed=1)
            for name, data, trained in (("first", "points", 6), ("again", "./points/", 0), ("whole-path", f'"{service.root / "points"}"', 0)):
                with self.subTest(name):
                    ran = self.run_study(service, name, "mlp", f"data: {data}")
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                    self.assertEqual(self.trained(service, name), trained)
                    self.assertEqual(results(service, name), results(service, "first"))
            self.assertGreater(service.json("study", "show", "first")["best"]["value"], 0.7)
            write_points(service.root / "points", seed=2)
            changed = self.run_study(service, "changed", "mlp", "data: points")
            self.assertEqual(changed.returncode, 0, changed.stderr)
            self.assertEqual(self.trained(service, "changed"), 6)
            self.assertNotEqual(results(service, "changed"), results(service, "first"))

    def test_data_that_makes_no_sense_is_said_with_the_line_of_the_file(self):
        with Service(slots=1) as service:
            (service.root / "empty").mkdir()
            for data, why in (("empty", "empty"), ("./nowhere", "nowhere")):
                ran = self.run_study(service, "wrong", "mlp", f"data: {data}")
                self.assertNotEqual(ran.returncode, 0)
                self.assertIn("no server runs built-in:mlp", ran.stderr)
                self.assertIn(f"--data: {service.root / why}: ", ran.stderr)
            write_points(service.root / "points", seed=1)
            for trainer in ("mlpp", "resnet"):
                ran = self.run_study(service, "wrong", trainer, "data: points")
                self.assertIn(f"--trainer: no trainer '{trainer}' is built in that takes this data", ran.stderr)
            self.assertEqual(service.json("study", "list"), [])

    def test_a_line_that_starts_a_worker_is_run_in_the_study_files_folder(self):
        with Service() as service:
            worker = service.root / "own worker.sh"
            worker.write_text(f'#!/bin/sh\nexec "{BIN}/espalier-worker" --trainer "$1" --fd "$3"\n')
            worker.chmod(0o755)
            ran = self.run_study(service, "line", "'command:./\"own worker.sh\" mlp'", "data: digits")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(self.trained(service, "line"), 6)
            built_in = self.run_study(service, "built-in", "mlp", "data: digits")
            self.assertEqual(built_in.returncode, 0, built_in.stderr)
            self.assertEqual(self.trained(service, "built-in"), 0)  # it is the same trainer
            worker.write_text("#!/bin/sh\necho cannot begin today >&2\nexit 3\n")
            ran = self.run_study(service, "broken", "'command:./\"own worker.sh\" mlp'", "data: digits")
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn("cannot begin today", ran.stderr)


if __name__ == "__main__":
    unittest.main()
