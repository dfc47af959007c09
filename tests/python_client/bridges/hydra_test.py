"""Hydra's apps sweep by a study."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import espalier as es
from documents import ROOT
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra_plugins.espalier_sweeper.space import space_of, tuner_of
from omegaconf import OmegaConf
from service import Service

PACKAGE = pathlib.Path(es.__file__).parents[1]
DOCUMENT = ROOT / "docs/hydra.md"


def shown(language):
    """The document's one block in that language."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    return block


def space(*overrides):
    return space_of(OverridesParser.create().parse_overrides(list(overrides)))


class HydraTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service())
        cls.client = cls.enterClassContext(es.connect(data=cls.service.data))

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "app.py").write_text(shown("python"))
        (self.folder / "config.yaml").write_text(shown("yaml"))

    def app(self, *arguments):
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "ESPALIER_DATA": str(self.service.data)}
        return subprocess.run([sys.executable, "app.py", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True)

    def sweep(self, *arguments):
        ended = self.app("--multirun", "hydra.sweep.dir=out", *arguments)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return OmegaConf.to_container(OmegaConf.load(self.folder / "out/optimization_results.yaml"))

    def test_a_sweep_is_a_study_whose_best_trial_stands_in_the_results(self):
        program, app, multirun, *overrides = shlex.split(shown("sh"))
        self.assertEqual((program, app, multirun), ("python", "app.py", "--multirun"))
        results = self.sweep(*overrides, "+momentum=0.5")
        study = self.client.open_study("app")
        self.assertEqual([trial.hyper_parameters for trial in study.trials],
                         [{"lr": lr, "bs": bs, "momentum": 0.5} for lr in (0.1, es.MultiStep(0.1, [4], 0.1)) for bs in (32, 64)])  # fmt: skip
        best = study.best
        self.assertEqual(results, {"name": "espalier", "study": study.id, "best_trial": best.id, "best_step": 8, "best_value": best.metric,
                                   "best_params": {name: value if isinstance(value, (int, float)) else str(value)
                                                   for name, value in best.hyper_parameters.items()}})  # fmt: skip
        self.assertEqual(OmegaConf.load(self.folder / "out/multirun.yaml").hydra.sweeper.trainer, "mlp")

    def test_ranges_are_drawn_from_and_settings_are_hydras(self):
        results = self.sweep("lr=tag(log,interval(0.01,1))", "+hydra.sweeper.params.bs='16,32'", "hydra.sweeper.study=drawn",
                             "+hydra.sweeper.tuner.random={trials: 5, steps: 2, seed: 1}", "~hydra.sweeper.tuner.grid")  # fmt: skip
        trials = list(self.client.open_study("drawn").trials)
        self.assertEqual((len(trials), results["best_step"]), (5, 2))
        self.assertEqual(len({trial.hyper_parameters["lr"] for trial in trials}), 5)
        self.assertTrue(all(0.01 <= trial.hyper_parameters["lr"] <= 1 for trial in trials))
        self.assertEqual({trial.hyper_parameters["bs"] for trial in trials} - {16, 32}, set())

    def test_without_multirun_the_app_is_as_it_was(self):
        self.assertEqual(self.app("lr=0.2").stdout, "trained by hand with 0.2\n")

    def test_what_is_wrong_is_said(self):
        for arguments, said in [
            (("lr=0.1,0.2", "+dropuot=0.5"), "^trials\\[0\\].dropuot: the trainer has no hyper-parameter dropuot, did you mean dropout"),
            (("lr=[0.1,0.2]",), r"lr: expected a number, a text or a sequence in quotes, got \[0.1, 0.2\]"),
            (("lr=0.1,0.2", "+hydra.sweeper.tuner.asha={min: 1}"), "hydra.sweeper.tuner: expected one of grid, random, sha"),
            (("lr=0.1,0.2", "hydra.sweeper.trainer=nobody"), "nobody"),
            (("lr=1e30,1e31",), r"no trial of study \d+ has a metric; see: espalier trial list"),
            (("lr=interval(0.1,1)",), "trials: expected trials: the study has no grid of its own"),
        ]:
            ended = self.app("--multirun", "hydra.sweep.dir=out", "hydra.sweeper.study=wrong", *arguments)
            self.assertEqual(ended.returncode, 1)
            self.assertRegex(ended.stderr, said)
        self.assertFalse((self.folder / "out/optimization_results.yaml").exists())

    def test_overrides_are_spaces(self):
        grid = space("lr=0.1,0.2", "bs=range(32,129,32)", "optimizer=sgd")
        self.assertEqual((grid.lists, grid.fixed), ({"lr": [0.1, 0.2], "bs": [32, 64, 96, 128]}, {"optimizer": "sgd"}))
        drawn = space("lr=interval(0.1,1)", "hidden=int(interval(1,10))", "decay=tag(log,interval(0.1,1))",
                      'schedule="Exponential(loguniform(0.01,1),0.9)"', "bs=32,64").hyper_parameters  # fmt: skip
        self.assertEqual({name: str(value) for name, value in drawn.items()},
                         {"lr": "uniform(0.1, 1.0)", "hidden": "integer(1, 10)", "decay": "loguniform(0.1, 1.0)",
                          "schedule": "Exponential(loguniform(0.01, 1), 0.9)", "bs": "choice(32, 64)"})  # fmt: skip

    def test_tuners_are_said_as_in_study_files(self):
        self.assertEqual(tuner_of({"asha": {"min": 1, "max": 8}}), es.ASHA(min=1, max=8))
        for said, message in [({"ahsa": {}}, "expected one of grid, random, .*, got ahsa"), ({}, "expected one of grid"),
                              ({"grid": {"stesp": 8}}, "hydra.sweeper.tuner.grid: .*stesp"), ({"grid": {"steps": 0}}, "grid.steps: ")]:  # fmt: skip
            with self.assertRaisesRegex(es.InvalidArgument, message):
                tuner_of(said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
