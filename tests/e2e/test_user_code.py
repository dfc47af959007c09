"""Trainers in users' own code on a service that never heard of them: a study file names them, and the code travels. Runs with the
interpreter in the environment's ESPALIER_PYTORCH, which has PyTorch."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from service import PATIENCE_SECONDS, Service, results

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ["ESPALIER_PYTORCH"]
os.environ["PYTHONPATH"] = str(ROOT / "client" / "python")


def study(name, trainer="digits/digits_cnn.py:main", more=f"python: {PYTHON}", share="team"):
    return f"""
study: {name}
trainer: {trainer}
{more}
step: 5 updates
hyper_parameters:
  lr: [0.05, "MultiStep(0.05, [2], gamma=0.1)"]
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: 4}}}}
share: {share}
"""


class UserCode(Service):
    """Ours lies beside the study files, in digits/."""

    def __init__(self, *up_options):
        super().__init__(up_options=up_options, worker=os.path.basename(os.path.realpath(PYTHON)))
        self.code = self.root / "digits"
        self.code.mkdir()
        for name in ("digits_cnn.py", "digits.csv"):
            shutil.copy(ROOT / "examples/pytorch" / name, self.code)

    def change(self, before, after):
        file = self.code / "digits_cnn.py"
        text = file.read_text()
        assert before in text
        file.write_text(text.replace(before, after))

    def run_study(self, name, **parts):
        return self.run("study", "run", self.write(f"{name}.yaml", study(name, **parts)), check=False)

    def steps(self, name):
        return self.json("study", "show", name)["steps"]

    def call(self, token, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=dict(self.environment(), ESPALIER_TOKEN=token), timeout=PATIENCE_SECONDS)


class UserCodeTest(unittest.TestCase):
    def test_a_study_file_is_enough_and_equal_code_is_trained_once(self):
        with UserCode() as service:
            forecast = service.run("study", "forecast", service.write("first.yaml", study("first")))
            self.assertIn("to look at digits_cnn.py:main", forecast.stderr)
            forecast = json.loads(forecast.stdout)
            self.assertEqual((forecast["trials"], forecast["total_steps"], forecast["unique_steps"]), (2, 8, 6))
            first = service.run_study("first")
            self.assertEqual(first.returncode, 0, first.stderr)
            self.assertNotIn("to look at", first.stderr)  # the server knows it by now
            self.assertEqual([trial["state"] for trial in service.json("trial", "list", "first")], ["done", "done"])
            self.assertEqual(service.steps("first")["trained"], 6)
            # It is the user's alone: who names a trainer does not get it.
            self.assertNotIn("digits_cnn", [each["name"] for each in service.json("trainer", "list")])

            service.change("import torch\n", "import torch  # a remark\n")
            self.assertEqual(service.run_study("remarked").returncode, 0)
            self.assertEqual(service.steps("remarked")["trained"], 0)
            self.assertEqual(results(service, "remarked"), results(service, "first"))

            service.change("nn.Conv2d(1, 16", "nn.Conv2d(1, 8")
            service.change("nn.Conv2d(16, 32", "nn.Conv2d(8, 32")
            self.assertEqual(service.run_study("changed").returncode, 0)
            self.assertEqual(service.steps("changed")["trained"], 6)
            self.assertNotEqual(results(service, "changed"), results(service, "first"))

            # The code of a finished study is kept: its trials are gone on from by it, whatever lies in the folder now.
            trial = service.json("trial", "list", "first")[0]["id"]
            extended = service.run("trial", "extend", str(trial), "--steps", "6", check=False)
            self.assertEqual(extended.returncode, 0, extended.stderr)

            lines = (service.code / "digits.csv").read_text().splitlines(keepends=True)
            (service.code / "digits.csv").write_text("".join(lines[:-1]))
            self.assertEqual(service.run_study("other data").returncode, 0)
            self.assertEqual(service.steps("other data")["trained"], 6)

    def test_code_that_a_master_or_a_node_manager_loses_on_the_way_is_there_again(self):
        with UserCode() as service:
            running = service.begin("study", "run", service.write("tough.yaml", study("tough")))
            for program in ("master", "node", "master"):
                service.kill(program)
            _, errors = running.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(running.returncode, 0, errors)
            self.assertEqual([trial["state"] for trial in service.json("trial", "list", "tough")], ["done", "done"])

    def test_a_server_that_runs_nobodys_code_says_so(self):
        with UserCode("--user-code", "none") as service:
            refused = service.run_study("refused")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("no server runs digits_cnn.py:main", refused.stderr)
            self.assertIn("user_code: none", refused.stderr)
            self.assertEqual(service.json("study", "list"), [])

    def test_somebody_elses_server_runs_its_owners_code_alone_unless_it_lists_others(self):
        for options, expected in [((), 1), (("--user-code", "bob", "--user-code", "team:vision"), 0)]:
            with self.subTest(options=options), UserCode(*options) as service:
                ann = service.json("user", "add", "ann", "--team", "vision")["token"]
                file = service.write("anns.yaml", study("anns"))
                run = service.call(ann, "study", "run", file)
                self.assertEqual(run.returncode, expected, run.stderr)
                self.assertEqual("own_jobs" in run.stderr, expected == 1)

    def test_code_and_interpreters_that_do_not_fit_are_named_with_the_line_of_the_file(self):
        with UserCode() as service:
            service.write("digits/broken.py", "import no_such_package\n")
            shutil.copy(ROOT / "tests/e2e/failing_trainer.py", service.code)
            for parts, status, expected in [
                ({"trainer": "digits/nowhere.py:main"}, 2, "refused.yaml:3: trainer: "),
                ({"trainer": "digits/digits_cnn.py:Nobody"}, 2, "refused.yaml:3: trainer: "),
                ({"trainer": "digits/broken.py:Broken"}, 2, "no_such_package"),
                ({"trainer": "mlp"}, 2, "refused.yaml:4: python: "),
                ({"more": f"python: {PYTHON}\nenvironment: {{ESPALIER_X: 1}}"}, 2, "refused.yaml:5: environment: "),
            ]:
                with self.subTest(parts=parts):
                    refused = service.run_study("refused", **parts)
                    self.assertEqual(refused.returncode, status, refused.stderr)
                    self.assertIn(expected, refused.stderr)


if __name__ == "__main__":
    unittest.main()
