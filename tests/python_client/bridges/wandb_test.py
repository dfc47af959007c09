"""A study's trials as offline runs of Weights & Biases, read back from the files that `wandb sync` sends."""

import json
import math
import os
import pathlib
import struct
import tempfile
import unittest
import unittest.mock

import espalier as es
from service import Service
from wandb.proto import wandb_internal_pb2

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
STEPS = 6
BLOCK = 32768  # a file of records in LevelDB's log format, after a header of seven bytes
RECORD_HEADER = struct.Struct("<IHB")  # checksum, length, kind: whole, first, middle, last


def records(file):
    content, place, part = file.read_bytes(), 7, b""
    while place + RECORD_HEADER.size <= len(content):
        if BLOCK - place % BLOCK < RECORD_HEADER.size:
            place += BLOCK - place % BLOCK
            continue
        _, length, kind = RECORD_HEADER.unpack_from(content, place)
        place += RECORD_HEADER.size
        part += content[place : place + length]
        place += length
        if kind in (1, 4):
            yield wandb_internal_pb2.Record.FromString(part)
            part = b""


class Run:
    """What is in a run's file."""

    def __init__(self, file):
        listed = list(records(file))
        self.run = next(each.run for each in listed if each.HasField("run"))
        self.config = {each.key or ".".join(each.nested_key): json.loads(each.value_json) for each in self.run.config.update}
        self.exit_code = next(each.exit.exit_code for each in listed if each.HasField("exit"))
        self.history = {}
        for each in listed:
            if each.HasField("history"):
                values = {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in each.history.item}
                self.history[each.history.step.num] = values


class WandbTest(unittest.TestCase):
    def test_files_hold_each_trial_with_its_whole_curve_and_forks_say_of_which(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(unittest.mock.patch.dict(os.environ, ESPALIER_PROGRAM=str(BIN / "espalier")))
        grid = {"lr": [0.1, es.MultiStep(0.1, [4], 0.1), 1e30], "bs": [32, 64]}
        with Service() as service, es.connect(data=service.data) as client:
            study = client.study("curves", trainer="mlp", data="digits", step="20 updates", space=grid, metric="test_acc", goal="max", steps=STEPS,
                                 evaluate_every=2, share="study")  # fmt: skip
            study.submit()
            study.finish()
            self.assertTrue(study.wait(300))
            ids = es.export.wandb(study, folder / "new")
            trials = list(study.trials)
        self.assertEqual(ids, {trial.id: f"espalier-{study.id}-{trial.id}" for trial in trials})
        runs = {trial: Run(next(folder.glob(f"new/wandb/offline-run-*-{run_id}/run-{run_id}.wandb"))) for trial, run_id in ids.items()}
        first, second, *forked = ids
        for trial in trials:
            run = runs[trial.id]
            self.assertEqual((run.run.project, run.run.run_group, run.run.display_name, run.exit_code), ("espalier", "curves", f"trial {trial.id}", 0))
            told = {name: value if isinstance(value, (int, float)) else str(value) for name, value in trial.hyper_parameters.items()}
            self.assertEqual({name: run.config[name] for name in told}, told)
            if trial.hyper_parameters["lr"] == 1e30:
                self.assertTrue(math.isnan(float(run.history[STEPS]["test_acc"])))
                continue
            self.assertEqual([step for step, values in run.history.items() if "test_acc" in values], [2, 4, STEPS])
            self.assertEqual([step for step, values in run.history.items() if "training/loss" in values], list(range(1, STEPS + 1)))
            self.assertEqual(run.history[STEPS]["test_acc"], trial.metric)
        for trial, parent in zip(forked, (first, second)):
            self.assertEqual((runs[trial].config["espalier"]["parent_trial"], runs[trial].config["espalier"]["branch_step"]), (parent, 4))
            self.assertIn(f"fork of {ids[parent]} at 4", runs[trial].run.tags)
        self.assertEqual(list(runs[first].run.tags), ["espalier", "done"])
        self.assertNotIn("parent_trial", runs[first].config["espalier"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
