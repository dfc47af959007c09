"""Studies that begin with what other code has trained: a user changes his trainer, and does not train the common beginning again. Runs with
the interpreter in the environment's ESPALIER_PYTORCH, which has PyTorch."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from service import BIN, Service

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ["ESPALIER_PYTORCH"]
os.environ["PYTHONPATH"] = str(ROOT / "client" / "python")

CODE = """
import torch

import espalier as es


class Fit(es.Trainer):
    hyper_parameters = {{"lr": es.sequence(float, default=0.05){more}}}
    metrics = ["error"]
    data = "drawn at random"

    def init(self, hp):
        self.model = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=hp["lr"], momentum=0.9)
        self.trained = 0
        self.track(self.model, self.optimizer{tracked})
        self.track_attributes("trained")

    def setup(self, changed):
        if "lr" in changed:
            self.optimizer.param_groups[0]["lr"] = changed["lr"]

    def train(self):
        x = torch.randn(8, 4)
        loss = {weight} * ((self.model(x) - x.sum(dim=1, keepdim=True)) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.trained += 1
        return {{"loss": loss.item(), "samples": 8}}

    def evaluate(self):
        return {{"error": (self.model.weight - 1).abs().sum().item() * {unit}}}
"""


def study(name, steps, lr='[0.05, "Piecewise([0.05, 0.01], [10])"]', more=""):
    return f"""
study: {name}
trainer: fit.py:Fit
python: {PYTHON}
step: 1 updates
hyper_parameters:
  lr: {lr}
metric: {{name: error, goal: min}}
tuner: {{grid: {{steps: {steps}}}}}
keep: all
check: off
{more}
"""


class Changing(Service):
    def __init__(self):
        super().__init__(worker=os.path.basename(os.path.realpath(PYTHON)))

    def write_code(self, weight="1.0", unit="1", more="", tracked=""):
        (self.root / "fit.py").write_text(CODE.format(weight=weight, unit=unit, more=more, tracked=tracked))

    def run_study(self, name, steps, *options, check=True, **parts):
        return self.run("study", "run", self.write(f"{name}.yaml", study(name, steps, **parts)), *options, check=check)

    def text(self, *arguments):
        """What people see."""
        return subprocess.run([str(BIN / "espalier"), *arguments], env=self.environment(), capture_output=True, text=True, check=True,
                              stdin=subprocess.DEVNULL).stdout  # fmt: skip

    def trained(self, name):
        return self.json("study", "show", name)["steps"]["trained"]

    def trials(self, name):
        return self.json("trial", "list", name)

    def arrays(self, name):
        """Of each trial's last state, by name, but for who trained it."""
        arrays = []
        for trial in self.trials(name):
            file = self.root / f"{name} {trial['id']}.safetensors"
            self.run("checkpoint", "export", str(trial["id"]), str(file))
            content = file.read_bytes()
            file.unlink()
            begin = 8 + int.from_bytes(content[:8], "little")
            head = json.loads(content[8:begin])
            head.pop("__metadata__", None)
            found = {key: content[begin + each["data_offsets"][0]:begin + each["data_offsets"][1]] for key, each in head.items()}
            arrays.append({key: re.sub(rb'"code","[0-9a-f]+"', b"", value) for key, value in found.items()})
        return arrays

    def states(self, name):
        return [trial["state_sha256"] for trial in self.trials(name)]


class ReuseTest(unittest.TestCase):
    def test_the_common_beginning_is_not_trained_again_and_the_rest_is_what_the_new_code_makes_of_it(self):
        with Changing() as service:
            service.write_code()
            service.run_study("old", 20)
            self.assertEqual(service.trained("old"), 30)
            old = str(service.json("study", "show", "old")["id"])

            service.write_code(weight="3.0")
            file = service.write("new.yaml", study("new", 30))
            forecast = service.json("study", "forecast", file, "--reuse-from", old)
            # Apart from the beginning: they begin with two states.
            self.assertEqual((forecast["unique_steps"], forecast["reused_steps"], forecast["remaining_steps"]), (60, 40, 20))
            service.run("study", "run", file, "--reuse-from", "old")
            self.assertEqual(service.trained("new"), 20)

            # By hand: code that changes its weight by itself at step 20 leaves the very same states.
            service.write_code(weight="(1.0 if self.trained < 20 else 3.0)")
            service.run_study("by hand", 30)
            self.assertEqual(service.trained("by hand"), 50)
            self.assertEqual(service.arrays("new"), service.arrays("by hand"))
            self.assertEqual([trial["metric"] for trial in service.trials("new")], [trial["metric"] for trial in service.trials("by hand")])

            # Plain studies of the new code share nothing with it; who asks for the same shares all.
            service.write_code(weight="3.0")
            service.run_study("plain", 30)
            self.assertEqual(service.trained("plain"), 50)
            self.assertNotEqual(service.arrays("plain"), service.arrays("new"))
            service.run_study("again", 30, more=f"reuse_from: {old}")
            self.assertEqual(service.trained("again"), 0)
            self.assertEqual(service.states("again"), service.states("new"))

            # Not behind step 10, where the two parted: both begin there, and once more they are what is made by hand.
            service.run_study("earlier", 20, "--reuse-from", old, "--reuse-until", "10")
            self.assertEqual(service.trained("earlier"), 20)
            self.assertEqual([trial["origin"]["step"] for trial in service.trials("earlier")], [10, 10])

    def test_a_mended_evaluation_is_all_that_is_done_where_every_state_stands(self):
        with Changing() as service:
            service.write_code()
            service.run_study("old", 20)
            service.write_code(unit="100")
            service.run_study("mended", 20, "--reuse-from", "old")
            self.assertEqual(service.trained("mended"), 0)
            self.assertEqual(service.states("mended"), service.states("old"))
            for before, after in zip(service.trials("old"), service.trials("mended"), strict=True):
                self.assertAlmostEqual(after["metric"], 100 * before["metric"])

    def test_every_list_says_what_a_study_and_a_trial_began_with(self):
        with Changing() as service:
            service.write_code()
            service.run_study("old", 20)
            old = service.json("study", "show", "old")["id"]
            service.write_code(weight="3.0")
            service.run_study("new", 30, "--reuse-from", "old")
            self.assertRegex(service.text("study", "show", "new"), rf"reuses +study {old} \(code [0-9a-f]{{12}}\)")
            self.assertEqual(service.json("study", "show", "new")["reuses"]["study"], old)
            self.assertEqual([each["reuses"] for each in service.json("study", "list")], [{"study": old}, None])
            self.assertRegex(service.text("study", "list"), rf"new .* study {old}\n")
            origin = service.trials("new")[0]["origin"]
            self.assertEqual((origin["study"], origin["step"]), (old, 20))
            begins = rf"study {old} \(code {origin['code_digest'][:12]}\) at step 20"
            self.assertRegex(service.text("trial", "list", "new"), begins)
            trial = str(service.trials("new")[0]["id"])
            self.assertRegex(service.text("trial", "show", trial), begins)
            self.assertRegex(service.text("study", "best", "new"), begins)
            self.assertEqual(service.json("study", "best", "new")["origin"]["step"], 20)
            self.assertIn(f",{old},{origin['code_digest']},20\n", service.text("study", "export", "new"))
            self.assertNotIn("origin", service.text("study", "export", "old"))
            self.assertIn('"reused"', service.run("plan", "show", "new").stdout)

    def test_what_cannot_be_begun_with_is_refused_or_fails_saying_why(self):
        with Changing() as service:
            service.write_code(more=', "size": es.initial(int, default=4)')
            service.run_study("old", 20)
            service.write_code()
            refused = service.run_study("without size", 30, "--reuse-from", "old", check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("hyper-parameter size, which the trainer does not have any more", refused.stderr)
            unknown = service.run_study("of nothing", 30, "--reuse-from", "nobody's", check=False)
            self.assertEqual(unknown.returncode, 1)
            self.assertIn("nobody's", unknown.stderr)
            # A state that the new code cannot load: its own affair, and it says so.
            service.write_code(more=', "size": es.initial(int, default=4)', tracked=', extra=torch.zeros(2)')
            failed = service.run_study("other state", 30, "--reuse-from", "old", check=False)
            self.assertIn("extra", "".join(trial["message"] for trial in service.trials("other state")), failed.stderr)

    def test_a_lost_file_is_named_and_once_it_is_trained_again_a_retry_goes_on(self):
        with Changing() as service:
            service.write_code()
            service.run_study("old", 20, lr="[0.05]")
            stored = service.json("checkpoint", "list", "old")
            self.assertEqual(len(stored), 1)
            trial = str(service.trials("old")[0]["id"])
            service.write_code(weight="3.0")
            (service.data / "checkpoints" / stored[0]["file"]).unlink()
            service.run_study("new", 30, "--reuse-from", "old", check=False, lr="[0.05]")
            failed = service.trials("new")[0]
            self.assertEqual(failed["state"], "failed")
            self.assertIn("a state that other code left", failed["message"])
            service.run("checkpoint", "export", trial, str(service.root / "again.safetensors"), "--step", "20", "--train")
            service.run("stage", "retry", failed["message"].rsplit("stage retry ", 1)[1])
            service.run_study("new again", 30, "--reuse-from", "old", lr="[0.05]")
            self.assertEqual(service.trained("new again"), 10)
            self.assertEqual([trial["origin"]["step"] for trial in service.trials("new again")], [20])


if __name__ == "__main__":
    unittest.main()
