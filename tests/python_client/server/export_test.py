"""What a study has measured, as other tools read it."""

import contextlib
import csv
import io
import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

import espalier as es
from espalier.client import curves
from espalier.export import study_forks, table
from service import Service

try:
    import pandas
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import metadata
except ImportError:
    raise unittest.SkipTest("pandas and TensorBoard are not installed") from None

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
STEPS = 8
# Of each family some; integers, texts; 1e30 diverges.
GRID = {"lr": [0.1, es.MultiStep(0.1, [4], 0.1), es.MultiStep(0.1, [6], 0.1), es.Warmup(0.01, 3, es.Cosine(0.1, 0, 4)), 1e30],
        "bs": [32, es.MultiStep(32, [5], 2)], "optimizer": ["sgd", es.Piecewise(["sgd", "adam"], [7])]}  # fmt: skip


class ExportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service())
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, ESPALIER_PROGRAM=str(BIN / "espalier")))
        cls.client = cls.enterClassContext(es.connect(data=cls.service.data))
        cls.study = cls.client.study("curves", trainer="mlp", data="digits", step="20 updates", space=GRID, metric="test_acc", goal="max", steps=STEPS,
                                     evaluate_every=2, share="study")  # fmt: skip
        cls.study.submit()
        cls.study.finish()
        assert cls.study.wait(300)

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="espalier test ")))

    def by_program(self, study, form):
        command = [BIN / "espalier", "study", "export", str(study.id), "--format", form, "--data", self.service.data]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def test_tables_are_those_of_the_program(self):
        for name, writes in {"csv": es.export.csv, "jsonl": es.export.jsonl}.items():
            writes(self.study, self.folder / name)
            self.assertEqual((self.folder / name).read_text(), self.by_program(self.study, name))
        rows = list(csv.DictReader(io.StringIO((self.folder / "csv").read_text())))
        self.assertEqual(len(rows), 16 * STEPS / 2)  # those of the steps that are shared, too; none of what diverged at once

    def test_a_hyper_parameter_keeps_its_column_from_a_metric_of_its_name(self):
        study = self.client.study("named alike", trainer="synthetic", metric="test_loss", goal="min", steps=2, space={"test_acc": [0.5, 1e-7, 1e22]})
        study.submit()
        study.finish()
        self.assertTrue(study.wait(300))
        es.export.csv(study, self.folder / "csv")
        self.assertEqual((self.folder / "csv").read_text(), self.by_program(study, "csv"))
        self.assertEqual((self.folder / "csv").read_text().split("\n")[0], "trial,state,step,metric:test_acc,test_loss,test_acc")

    def test_a_parquet_file_holds_the_same_with_types(self):
        es.export.csv(self.study, self.folder / "csv")
        es.export.parquet(self.study, self.folder / "parquet")
        frame = pandas.read_parquet(self.folder / "parquet")
        self.assertEqual([str(frame[name].dtype) for name in ("trial", "step", "test_acc")], ["int64", "int64", "float64"])
        written = pandas.read_csv(self.folder / "csv", dtype={name: str for name in GRID}, float_precision="round_trip")
        pandas.testing.assert_frame_equal(frame, written, check_dtype=False)

    def test_no_file_is_written_over_and_none_is_left_half_written(self):
        file = self.folder / "there"
        file.write_text("mine")
        for writes in (es.export.csv, es.export.jsonl, es.export.parquet):
            with self.assertRaisesRegex(es.AlreadyExists, "file: .*there is there already; remove it, or name another"):
                writes(self.study, file)
        with contextlib.suppress(FileNotFoundError):
            es.export.csv(self.study, self.folder / "no such folder" / "csv")
        self.assertEqual([(each.name, each.read_text()) for each in self.folder.iterdir()], [("there", "mine")])

    def test_tensorboard_reads_each_trials_whole_curve(self):
        folders = es.export.tensorboard(self.study, self.folder)
        es.export.tensorboard(self.study, self.folder)  # which replaces what was written
        self.assertEqual(folders, [self.folder / f"trial-{trial.id}" for trial in self.study.trials])
        for curve, folder in zip(curves.read(self.study, training=True), folders, strict=True):
            events = EventAccumulator(str(folder)).Reload()
            self.assertEqual(set(events.Tags()["scalars"]), {"test_acc", "test_loss", "training/loss", "training/samples"})
            diverged = curve.sequences["lr"] == "1e+30"
            for name in ("test_acc", "test_loss"):
                expected = [(STEPS, math.nan)] if diverged else [(step, metrics[name]) for step, metrics in curve.evaluations.items()]
                self.assert_near([(each.step, each.value) for each in events.Scalars(name)], expected)
            self.assert_near([(each.step, each.value) for each in events.Scalars("training/loss")], list(curve.training["loss"].items()))
            self.assertEqual(list(curve.training["loss"]), [1] if diverged else list(range(1, STEPS + 1)))  # shared steps, too
            told = events.Tensors("hyper-parameters")[0].tensor_proto.string_val[0].decode()
            self.assertIn(f"| lr | `{curve.sequences['lr']}` |", told)
            shown = metadata.parse_session_start_info_plugin_data(events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content)
            expected = {name: float(value) if isinstance(value, (int, float)) else value for name, value in curve.values().items()}
            self.assertEqual({name: getattr(value, value.WhichOneof("kind")) for name, value in shown.hparams.items()}, expected)

    def test_what_forks_share_is_what_was_not_trained_again(self):
        forks = study_forks.forks_of(curves.read(self.study))
        steps = self.study.show().steps
        self.assertEqual(steps.claimed - sum(fork.step for fork in forks.values()), steps.unique)
        self.assertEqual(len(forks), 17)  # all but the first of each value of lr at step 0
        first, _, _, _, forked, *_ = [trial.id for trial in self.study.trials]
        self.assertEqual(forks[forked], study_forks.Fork(first, 4))

    def test_a_whole_number_is_the_beginning_of_a_floating_sequence(self):
        grid = {"x": [1, es.MultiStep(1, [4], 0.5)], "n": [2, es.MultiStep(2, [3], 2)]}
        study = self.client.study("types", trainer="synthetic", metric="test_acc", goal="max", space=grid, steps=STEPS, share="study")
        study.submit()
        study.finish()
        self.assertTrue(study.wait(300))
        steps, forks = study.show().steps, study_forks.forks_of(curves.read(study))
        self.assertEqual([fork.step for fork in forks.values()], [3, 4, 4])
        self.assertEqual(steps.claimed - 11, steps.unique)

    def test_a_trial_forks_from_where_another_was_stopped(self):
        study = self.client.study("stopped", trainer="synthetic", metric="test_acc", goal="max", share="study")
        short = study.submit({"lr": es.Exponential(1, 0.5), "bs": 1}, steps=3)
        long = study.submit({"lr": es.Piecewise([es.Exponential(1.0, 0.5), 0.1], [6]), "bs": 1}, steps=8)
        study.finish()
        self.assertTrue(study.wait(300))
        self.assertEqual(study_forks.forks_of(curves.read(study)), {long.trial.id: study_forks.Fork(short.trial.id, 3)})

    def test_numbers_are_as_short_as_they_can_be_and_what_is_none_is_null_in_json(self):
        curve = curves.Curve(1, "done", 2, "", {"note": '"a, b"'}, {2: {"acc": math.nan, "loss": math.inf, "size": 1e22, "whole": 1.0}})
        table.write_jsonl([curve], self.folder / "jsonl")
        self.assertEqual(json.loads((self.folder / "jsonl").read_text(), parse_constant=self.fail)["metrics"], {"acc": None, "loss": None, "size": 1e22, "whole": 1})
        table.write_csv([curve], self.folder / "csv")
        self.assertEqual((self.folder / "csv").read_text(), 'trial,state,step,acc,loss,size,whole,note\n1,done,2,nan,inf,1e+22,1,"""a, b"""\n')

    def assert_near(self, given, expected):
        """TensorBoard's values are of single precision."""
        self.assertEqual([step for step, _ in given], [step for step, _ in expected])
        for (_, one), (_, other) in zip(given, expected):
            self.assertTrue(math.isclose(one, other, rel_tol=1e-6) or math.isnan(one) and math.isnan(other) or one == other, f"{one} {other}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
