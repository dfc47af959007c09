"""Optuna's samplers and pruners drive studies, and Optuna reads them."""

import json
import math
import threading
import unittest
import urllib.request
import warnings
import wsgiref.simple_server

import espalier as es
from service import Service

try:
    import optuna
except ImportError:
    raise unittest.SkipTest("Optuna is not installed") from None

STEPS = 8
RUNGS = [2, 4, STEPS]


def space(trial):
    return {"lr": es.Exponential(trial.suggest_float("lr", 1e-3, 1, log=True), 0.9),
            "bs": trial.suggest_categorical("bs", [32, 64])}  # fmt: skip


class Recorder(optuna.pruners.BasePruner):
    """Prunes the trials of these numbers, at the first step at which it is asked; keeps what it has been asked."""

    def __init__(self, *numbers):
        self.numbers, self.asked = numbers, []

    def prune(self, study, trial):
        self.asked.append((trial.number, list(trial.intermediate_values)))
        return trial.number in self.numbers


class Silent(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


def answer(address):
    with urllib.request.urlopen(address, timeout=60) as response:
        return json.load(response)


class OptunaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        cls.service = cls.enterClassContext(Service())
        cls.client = cls.enterClassContext(es.connect(data=cls.service.data))

    def study(self, name, **more):
        return self.client.study(name, **{**dict(trainer="synthetic", metric="test_loss", goal="min", steps=STEPS, share="study"), **more})

    def test_a_seeded_sampler_goes_on_where_the_process_before_it_was_killed(self):
        class Killed(Exception):
            pass

        def run(asked_at_most):
            asked = []

            def counted(trial):
                if len(asked) == asked_at_most:
                    raise Killed
                asked.append(trial.number)
                return space(trial)

            return es.optuna.run(self.study("killed"), counted, trials=30, at_once=1, sampler=optuna.samplers.TPESampler(seed=3))

        with self.assertRaises(Killed):
            run(asked_at_most=20)
        seen = run(asked_at_most=30)
        self.assertEqual(len({trial.user_attrs["espalier_trial"] for trial in seen.trials}), 30)
        self.assertEqual(len(self.client.open_study("killed").trials), 30)

    def test_what_the_space_prunes_counts_and_is_not_trained(self):
        def picky(trial):
            proposal = space(trial)
            if trial.number % 3 == 1:
                raise optuna.TrialPruned
            return proposal

        study = self.study("picky")
        seen = es.optuna.run(study, picky, trials=10, at_once=2, sampler=optuna.samplers.RandomSampler(seed=5))
        states = [trial.state.name for trial in seen.trials]
        self.assertEqual(states, ["PRUNED" if number % 3 == 1 else "COMPLETE" for number in range(10)])
        self.assertEqual(len(study.trials), 7)

    def test_any_sampler_drives_a_study_of_fifty_trials(self):
        for name, sampler in {"tpe": optuna.samplers.TPESampler(seed=1), "cma-es": optuna.samplers.CmaEsSampler(seed=1)}.items():
            with self.subTest(name):
                study = self.study(name)
                driven = es.optuna.run(study, lambda trial: {"lr": es.Exponential(trial.suggest_float("lr", 1e-3, 1, log=True),
                                                                                  trial.suggest_float("gamma", 0.9, 1))},
                                       trials=50, sampler=sampler)  # fmt: skip
                self.assertTrue(study.wait(60))
                self.assertEqual(study.show().trials["done"], 50)
                self.assertEqual([trial.number for trial in driven.trials if trial.state == optuna.trial.TrialState.COMPLETE], list(range(50)))
                of_id = {trial.id: trial for trial in study.trials}
                for trial in driven.trials:
                    self.assertEqual(trial.value, of_id[trial.user_attrs["espalier_trial"]].metric)
                    self.assertEqual(of_id[trial.user_attrs["espalier_trial"]].hyper_parameters["lr"].init, trial.params["lr"])
                self.assertEqual(driven.best_value, study.best.metric)

    def test_each_measurement_is_reported_once_in_step_order_and_what_is_pruned_is_cancelled(self):
        pruner = Recorder(1, 4)
        study = self.study("pruned")
        driven = es.optuna.run(study, space, trials=6, at=RUNGS, at_once=3, pruner=pruner)
        states = [trial.state.name for trial in driven.trials]
        self.assertEqual(states, ["COMPLETE", "PRUNED", "COMPLETE", "COMPLETE", "PRUNED", "COMPLETE"])
        asked = {number: [steps for each, steps in pruner.asked if each == number] for number in range(6)}
        self.assertEqual(asked, {number: [[2]] if number in (1, 4) else [[2], [2, 4]] for number in range(6)})
        for trial in driven.trials:
            self.assertEqual(sorted(trial.intermediate_values), [2] if trial.number in (1, 4) else RUNGS)
        self.assertTrue(study.wait(60))
        cancelled = {trial.id for trial in study.trials.that_are("cancelled")}
        self.assertLessEqual(cancelled, {driven.trials[number].user_attrs["espalier_trial"] for number in (1, 4)})

    def test_a_trial_that_diverges_fails_in_optuna_and_the_study_goes_on(self):
        study = self.client.study("diverging", trainer="mlp", data="digits", step="20 updates", metric="test_loss", goal="min", share="study")
        driven = es.optuna.run(study, lambda trial: {"lr": 1e30 if trial.number == 1 else 0.1}, trials=3, at=[2, 4], pruner=Recorder())
        self.assertEqual([trial.state.name for trial in driven.trials], ["COMPLETE", "FAIL", "COMPLETE"])
        opened = es.optuna.study_of(study)
        self.assertEqual([trial.state.name for trial in opened.trials], ["COMPLETE", "FAIL", "COMPLETE"])

    def test_a_trial_that_diverges_on_the_way_fails_before_a_pruner_may_call_it_pruned(self):
        pruner = Recorder(0)
        kept = optuna.create_study(direction="minimize", pruner=pruner)
        tuner = es.optuna._Tuner(kept, space, "test_loss", STEPS, 10)
        self.assertFalse(tuner.tell(tuner.ask(), es.Evaluation(7, 2, "done", {"test_loss": math.nan})))
        self.assertEqual([(trial.state.name, list(trial.intermediate_values)) for trial in kept.trials], [("FAIL", [2])])
        self.assertEqual(pruner.asked, [])

    def test_a_trial_that_fails_fails_in_optuna(self):
        kept = optuna.create_study(direction="minimize")
        tuner = es.optuna._Tuner(kept, space, "test_loss", STEPS, 10)
        failed = tuner.ask()
        tuner.ask()
        self.assertFalse(tuner.tell(failed, es.Evaluation(7, 2, "failed", message="out of memory")))
        self.assertEqual([trial.state.name for trial in kept.trials], ["FAIL", "RUNNING"])
        self.assertEqual(kept.trials[0].user_attrs, {"espalier_trial": 7, "espalier_message": "out of memory"})
        tuner.give_up()
        self.assertEqual([trial.state.name for trial in kept.trials], ["FAIL", "FAIL"])

    def test_a_sampler_that_has_no_more_ends_the_run(self):
        study = self.study("grid")
        sampler = optuna.samplers.GridSampler({"lr": [0.1, 0.2, 0.3], "bs": [32, 64]}, seed=1)
        driven = es.optuna.run(study, space, trials=100, at_once=2, sampler=sampler)
        self.assertTrue(study.wait(60))
        self.assertEqual({tuple(trial.params.values()) for trial in driven.trials}, {(lr, bs) for lr in (0.1, 0.2, 0.3) for bs in (32, 64)})
        self.assertLess(len(driven.trials), 10)

    def test_optunas_own_pruners_prune(self):
        pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=2, reduction_factor=2)
        study = self.study("halved")
        driven = es.optuna.run(study, space, trials=20, at=RUNGS, at_once=1, pruner=pruner, sampler=optuna.samplers.RandomSampler(seed=1))
        self.assertTrue(study.wait(60))
        states = [trial.state.name for trial in driven.trials]
        self.assertEqual(set(states), {"COMPLETE", "PRUNED"})
        self.assertEqual(set(study.show().trials) - {"done", "cancelled"}, set())

    def test_what_a_space_raises_is_raised_and_no_trial_is_left_open_in_optuna(self):
        def breaks(trial):
            if trial.number == 2:
                raise RuntimeError("no more")
            return space(trial)

        study = self.study("breaks")
        kept = optuna.create_study(direction="minimize")
        with self.assertRaisesRegex(RuntimeError, "no more"):
            es.optuna.run(study, breaks, trials=5, at_once=1, optuna_study=kept)
        self.addCleanup(study.cancel)
        self.assertEqual([trial.state.name for trial in kept.trials], ["COMPLETE", "COMPLETE", "FAIL"])

    def test_a_study_opens_as_one_of_optunas(self):
        grid = es.Grid({"lr": [0.1, es.Exponential(0.1, 0.9), es.MultiStep(0.2, [4], 0.5)], "bs": [32, 64], "mode": "fast"})
        study = self.study("opened", space=grid).run(es.SHA(min=2, max=STEPS, reduction=2))
        opened = es.optuna.study_of(self.client.open_study("opened"))
        self.assertEqual((opened.study_name, opened.direction.name), ("opened", "MINIMIZE"))
        self.assertEqual(len(opened.trials), 6)
        self.assertEqual({trial.state.name for trial in opened.trials}, {"COMPLETE", "PRUNED"})
        self.assertEqual(opened.best_value, min(trial.metric for trial in study.trials if trial.steps == STEPS))
        by_id = {trial.user_attrs["espalier_trial"]: trial for trial in opened.trials}
        for trial in study.trials:
            shown = by_id[trial.id]
            self.assertEqual(shown.params["lr"], str(trial.hyper_parameters["lr"]))
            self.assertEqual((shown.params["bs"], shown.params["mode"]), (trial.hyper_parameters["bs"], "fast"))
            self.assertIsInstance(shown.params["bs"], int)
            self.assertEqual(shown.value, trial.metric)
            self.assertEqual(shown.intermediate_values, {step: each["test_loss"] for step, each in trial.refresh().metrics.items()})
            if isinstance(trial.hyper_parameters["lr"], es.MultiStep):
                self.assertEqual((shown.params["lr.init"], shown.params["lr.milestones[0]"]), (0.2, 4))
        self.assertFalse(any(math.isnan(trial.value) for trial in opened.trials))

    def test_optunas_own_plots_show_a_study(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is not installed")
        matplotlib.use("Agg")
        from optuna.visualization import matplotlib as plots

        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # the plots are experimental, and few trials are not much to them
        self.study("plotted", space=es.Grid({"lr": [0.1, 0.2, 0.3], "bs": [32, 64]})).run(es.SHA(min=2, max=STEPS, reduction=2))
        opened = es.optuna.study_of(self.client.open_study("plotted"))
        history = plots.plot_optimization_history(opened)
        complete = {trial.value for trial in opened.trials if trial.state.name == "COMPLETE"}
        self.assertEqual({float(value) for _, value in history.collections[0].get_offsets()}, complete)
        curves = {tuple(line.get_ydata()) for line in plots.plot_intermediate_values(opened).lines}
        self.assertEqual(curves, {tuple(trial.intermediate_values.values()) for trial in opened.trials})
        labels = {label.get_text() for label in plots.plot_param_importances(opened).get_yticklabels()}
        self.assertEqual(labels, {"lr", "bs"})
        plots.plot_slice(opened)
        plots.plot_parallel_coordinate(opened)
        matplotlib.pyplot.close("all")

    def test_optunas_dashboard_shows_a_study(self):
        try:
            import optuna_dashboard
        except ImportError:
            self.skipTest("optuna-dashboard is not installed")
        study = self.study("on a dashboard", space=es.Grid({"lr": [0.1, 0.2], "bs": [32, 64]})).run(es.SHA(min=2, max=STEPS, reduction=2))
        storage = optuna.storages.InMemoryStorage()
        es.optuna.study_of(study, storage)
        with self.assertRaises(optuna.exceptions.DuplicatedStudyError):
            es.optuna.study_of(study, storage)
        with wsgiref.simple_server.make_server("127.0.0.1", 0, optuna_dashboard.wsgi(storage), handler_class=Silent) as server:
            serving = threading.Thread(target=server.serve_forever)
            serving.start()
            try:
                address = f"http://127.0.0.1:{server.server_port}/api/studies"
                (listed,) = answer(address)["study_summaries"]
                self.assertEqual(listed["study_name"], "on a dashboard")
                trials = answer(f"{address}/{listed['study_id']}?after=0")["trials"]
            finally:
                server.shutdown()
                serving.join()
        self.assertEqual({(tuple(each["values"]), each["state"]) for each in trials},
                         {((trial.metric,), "Complete" if trial.steps == STEPS else "Pruned") for trial in study.trials})  # fmt: skip

    def test_wrong_use_says_what_to_do(self):
        for said, wrong, field in [({"metric": None}, {}, "metric: is missing"), ({"steps": None}, {}, "steps: is missing"),
                                   ({}, {"optuna_study": optuna.create_study(direction="maximize")}, "optuna_study: expected one that is to minimize"),
                                   ({}, {"optuna_study": optuna.create_study(), "pruner": Recorder()}, "optuna_study: expected either")]:  # fmt: skip
            with self.assertRaisesRegex(es.InvalidArgument, field):
                es.optuna.run(self.study("wrong", **said), space, trials=1, **wrong)


if __name__ == "__main__":
    unittest.main(verbosity=2)
