"""A study's trials as runs of MLflow."""

import os
import pathlib
import tempfile
import unittest
import unittest.mock

import espalier as es
from espalier.export import mlflow_runs
from espalier.client.curves import Curve
from mlflow.tracking import MlflowClient
from service import Service

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
STEPS = 6
GRID = {"lr": [0.1, es.MultiStep(0.1, [4], 0.1), 1e30], "bs": [32, 64]}


class MlflowTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service())
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, ESPALIER_PROGRAM=str(BIN / "espalier")))
        cls.client = cls.enterClassContext(es.connect(data=cls.service.data))
        cls.study = cls.client.study("curve's", trainer="mlp", data="digits", step="20 updates", space=GRID, metric="test_acc", goal="max",
                                     steps=STEPS, evaluate_every=2, share="study")  # fmt: skip
        cls.study.submit()
        cls.study.finish()
        assert cls.study.wait(300)
        cls.uri = f"sqlite:///{cls.enterClassContext(tempfile.TemporaryDirectory())}/mlflow.db"  # making one takes seconds

    def test_a_run_is_a_trial_with_its_whole_curve_and_a_study_is_written_into_an_experiment_once(self):
        runs = es.export.mlflow(self.study, self.uri)
        with self.assertRaisesRegex(es.AlreadyExists, f"experiment: curve's has runs of study {self.study.id} already"):
            es.export.mlflow(self.study, self.uri)
        store = MlflowClient(self.uri)
        self.assertEqual(store.get_experiment_by_name("curve's").experiment_id, store.get_run(runs[1]).info.experiment_id)
        self.assertEqual(list(runs), [trial.id for trial in self.study.trials])
        for trial in self.study.trials:
            run = store.get_run(runs[trial.id])
            self.assertEqual((run.info.run_name, run.info.status), (f"trial {trial.id}", "FINISHED"))
            self.assertEqual(run.data.params, {name: str(value) for name, value in trial.hyper_parameters.items()})
            told = {"study": str(self.study.id), "study_name": "curve's", "trial": str(trial.id), "state": "done", "steps": str(STEPS)}
            self.assertEqual({name: run.data.tags[f"espalier.{name}"] for name in told}, told)
            diverged = trial.hyper_parameters["lr"] == 1e30
            losses = store.get_metric_history(runs[trial.id], "training/loss")
            self.assertEqual([each.step for each in losses], [1] if diverged else list(range(1, STEPS + 1)))
            measured = store.get_metric_history(runs[trial.id], "test_acc")
            self.assertEqual([each.step for each in measured], [STEPS] if diverged else [2, 4, STEPS])
            if not diverged:
                self.assertEqual(measured[-1].value, trial.metric)

    def test_forks_are_child_runs_with_the_step_where_they_branch(self):
        runs = es.export.mlflow(self.study, self.uri, "forks")
        store = MlflowClient(self.uri)
        first, second, *forked = [trial.id for trial in self.study.trials]
        for trial, parent in zip(forked, (first, second)):
            tags = store.get_run(runs[trial]).data.tags
            self.assertEqual((tags["espalier.parent_trial"], tags["espalier.branch_step"]), (str(parent), "4"))
            self.assertEqual(tags["mlflow.parentRunId"], runs[parent])
        self.assertNotIn("mlflow.parentRunId", store.get_run(runs[second]).data.tags)

    def test_without_the_program_there_are_runs_but_no_forks(self):
        with unittest.mock.patch.dict(os.environ, ESPALIER_PROGRAM="/nowhere/espalier"):
            with self.assertRaisesRegex(es.NotFound, "/nowhere/espalier, which is no program"):
                es.export.mlflow(self.study, self.uri, "no forks")
            runs = es.export.mlflow(self.study, self.uri, "no forks", forks=False)  # nothing was written before
        tags = [MlflowClient(self.uri).get_run(run).data.tags for run in runs.values()]
        self.assertEqual(len(tags), 6)
        self.assertFalse(any("espalier.parent_trial" in each for each in tags))

    def test_all_is_called_what_mlflow_can_write_and_runs_end_as_their_trials_did(self):
        trials = [Curve(1, "failed", 2, "out of memory" + "." * 10_000, {"lr+": "0.1"}, {2: {"acc@1": 0.5}}), Curve(2, "cancelled", 0, "", {}, {}), Curve(3, "running", 0, "", {}, {})]
        written = mlflow_runs.write(self.study.show(), trials, {}, self.uri, "names")
        runs = [MlflowClient(self.uri).get_run(run) for run in written.values()]
        self.assertEqual([run.info.status for run in runs], ["FAILED", "KILLED", "RUNNING"])
        self.assertEqual((runs[0].data.params, runs[0].data.metrics), ({"lr_": "0.1"}, {"acc_1": 0.5}))
        self.assertTrue(runs[0].data.tags["espalier.message"].startswith("out of memory."))

    def test_a_trial_of_many_hyper_parameters_is_written_whole(self):
        many = {f"h{index}": index for index in range(150)} | {"curve_rate": 0.01}
        study = self.client.study("many", trainer="synthetic", metric="test_acc", goal="max", evaluate_every=1, share="study")
        trial = study.submit(many, steps=600).trial
        study.finish()
        self.assertTrue(study.wait(300))
        run = MlflowClient(self.uri).get_run(es.export.mlflow(study, self.uri)[trial.id])
        self.assertEqual(run.data.params, {name: str(value) for name, value in many.items()})
        self.assertEqual(len(MlflowClient(self.uri).get_metric_history(run.info.run_id, "test_acc")), 600)


if __name__ == "__main__":
    unittest.main(verbosity=2)
