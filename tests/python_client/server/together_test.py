"""Three studies of three tuners at once on one server, by three processes: a program on the C++ client, which stops trials by milestones, a
Python one with successive halving, and the command line with asynchronous halving. Their spaces overlap: what is shared is trained once over
all, and each trial comes to what it does when it is trained alone."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import espalier as es
from service import BIN, PATIENCE_SECONDS, Service

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = """
import espalier as es

space = es.Grid({"lr": [0.1, es.Exponential(0.1, 0.95), es.MultiStep(0.1, [6], 0.5)], "bs": [64, es.MultiStep(64, [4], 2)]})
with es.connect() as client:
    study = client.study("python", trainer="mlp", data="digits", step="20 updates", space=space)
    study.run(es.SHA(min=3, max=12, reduction=2), metric="test_acc", goal="max")
"""
FILE = """
study: line
trainer: mlp
data: digits
step: 20 updates
hyper_parameters:
  lr: [0.1, "MultiStep(0.1, [6], 0.5)", "Warmup(0.01, 3, 0.1)"]
  bs: ["MultiStep(64, [4], 2)", "MultiStep(128, [4], 2)"]
metric: {name: test_acc, goal: max}
tuner: {asha: {min: 2, max: 8, reduction: 2}}
"""
STUDIES = ("thesis", "python", "line")


class TogetherTest(unittest.TestCase):
    def test_what_three_studies_share_is_trained_once_and_each_trial_is_as_when_it_is_trained_alone(self):
        with Service() as service, es.connect(data=service.data) as client:
            environment = {**service.environment(), "PYTHONPATH": str(ROOT / "client" / "python")}
            commands = ([BIN / "thesis-study"], [sys.executable, "-c", PROGRAM],
                        [BIN / "espalier", "study", "run", service.write("line.yaml", FILE)])  # fmt: skip
            running = [subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True) for command in commands]  # fmt: skip
            for process in running:
                said = process.communicate(timeout=PATIENCE_SECONDS)
                self.assertEqual(process.returncode, 0, said)

            trials = [each for name in STUDIES for each in client.open_study(name).trials]
            shown = [service.json("study", "show", name)["steps"] for name in STUDIES]
            self.assertEqual([steps["wasted"] for steps in shown], [0] * 3)  # what was trained again, was asked for too late
            needed = prefixes(service, trials)
            self.assertEqual(trained(service), len(needed))
            self.assertLess(len(needed), sum(steps["unique"] for steps in shown))  # they did overlap

            alone = client.study("alone", trainer="mlp", data="digits", step="20 updates", metric="test_acc", goal="max", share="nobody")
            measured = {(key(each), step): metrics for each in trials for step, metrics in each.metrics.items()}
            futures = {}
            for trial in trials:
                if key(trial) not in futures:
                    steps = max(step for name, step in measured if name == key(trial))
                    futures[key(trial)] = alone.submit(trial.hyper_parameters, steps=steps)
            for name, future in futures.items():
                evaluation = future.result(PATIENCE_SECONDS)
                self.assertEqual(evaluation.metrics, measured[name, evaluation.step])
            alone.finish()


def key(trial):
    return json.dumps({name: str(value) for name, value in sorted(trial.hyper_parameters.items())})


def prefixes(service, trials):
    """Every way to a step that a trial was asked for: the functions in force at each step up to it. Worked out without the server."""
    functions = {}

    def functions_of(text):
        if text not in functions:
            functions[text] = service.json("sequence", "show", text, "--steps", "0:12")["segments"]
        return functions[text]

    def at(text, step):
        return next(json.dumps(each) for each in reversed(functions_of(text)) if each["start"] <= step)

    return {tuple(tuple(at(str(value), x) for _, value in sorted(trial.hyper_parameters.items())) for x in range(step + 1))
            for trial in trials for step in range(trial.steps)}  # fmt: skip


def trained(service):
    """Steps that are trained in the plans of the three."""
    found = set()
    for name in STUDIES:
        for node in service.json("plan", "show", name):
            found |= {(node["id"], step) for stage in node["stages"] if stage["state"] == "trained" for step in range(stage["from"], stage["to"])}
    return len(found)


if __name__ == "__main__":
    unittest.main()
