"""Studies driven from Python on a real service."""

import asyncio
import json
import math
import random
import unittest

import espalier as es
from service import Service, results, wait_until

LRS = [0.1, es.MultiStep(0.1, [3], 0.1), es.Exponential(0.1, 0.9), es.Warmup(0.01, 2, es.Cosine(0.1, 0, 10))]
SPACE = es.Grid({"lr": LRS, "bs": [32, es.MultiStep(32, [4], 2)], "momentum": 0.9})


class OneServiceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service())
        cls.client = cls.enterClassContext(es.connect(data=cls.service.data))

    def digits(self, name, **more):
        return self.client.study(name, **{**dict(trainer="mlp", data="digits", step="20 updates", space=SPACE, metric="test_acc", goal="max", steps=6,
                                                 share="study"), **more})  # fmt: skip

    def synthetic(self, name, **more):
        return self.client.study(name, trainer="synthetic", metric="test_loss", goal="min", share="study", **more)

    def test_a_grid_trains_what_its_trials_share_once_and_shows_as_on_the_command_line(self):
        study = self.digits("grid")
        forecast = study.forecast()
        self.assertEqual((forecast.trials, forecast.total_steps, forecast.trained_steps), (8, 48, 0))
        self.assertGreater(forecast.merge_rate, 1.2)
        self.assertIn("merge rate", str(forecast))
        evaluations = es.wait_all(study.submit(), 300)
        self.assertEqual([each.state for each in evaluations], ["done"] * 8)
        study.finish()
        self.assertTrue(study.wait(300))
        summary, shown = study.show(), self.service.json("study", "show", "grid")
        self.assertEqual((summary.steps.claimed, summary.steps.unique), (forecast.total_steps, forecast.unique_steps))
        self.assertEqual((summary.id, summary.state, summary.steps.trained, summary.merge_rate, summary.best.trial_id, summary.best.value),
                         (shown["id"], "finished", shown["steps"]["trained"], shown["merge_rate"], shown["best"]["trial"], shown["best"]["value"]))  # fmt: skip
        self.assertIn("merge rate", str(summary))
        self.assertIn("<table>", study._repr_html_())
        listed = [(each.id, each.state, each.steps, {name: str(value) for name, value in each._wire.sequences.items()}, each.metric, each.state_sha256)
                  for each in study.trials]  # fmt: skip
        self.assertEqual(listed, [(each["id"], each["state"], each["steps"], each["sequences"], each["metric"], each["state_sha256"])
                                  for each in self.service.json("trial", "list", "grid")])  # fmt: skip
        best = max(evaluations, key=lambda each: each["test_acc"])
        self.assertEqual(study.best.metric, best["test_acc"])
        self.assertEqual(study.best.metrics, {6: dict(best.metrics) if study.best.id == best.trial_id else study.best.metrics[6]})
        self.assertEqual(study.metric, "test_acc")

    def test_a_forecast_says_what_shares_nothing_and_which_change_would(self):
        def forecast(*lr):
            return self.digits("sweep", space=es.Grid({"lr": list(lr)}), steps=80).forecast()

        for word, apart, sharing in [
            ("rise", (es.Warmup(0, 10, 0.1), es.Warmup(0, 10, 0.2)), (es.Warmup(0, 10, 0.1), es.Warmup(0, 20, 0.2))),
            ("fall", (es.Cosine(0.1, 0, 40), es.Cosine(0.1, 0, 80)), (es.WSD(0.1, 40, 10), es.WSD(0.1, 80, 10))),
        ]:  # fmt: skip
            with self.subTest(word):
                said = forecast(*apart)
                [parting] = said.early_partings
                self.assertEqual((parting.hyper_parameter, parting.at_step, parting.sequences), ("lr", 0, [str(each) for each in apart]))
                self.assertRegex(str(said), f"sharing +saves nothing: no two trials begin alike\nwould share +lr: .* part at step 0: they {word} ")
                said = forecast(*sharing)
                self.assertEqual(said.early_partings, [])
                self.assertGreater(said.merge_rate, 1.05)

    def test_every_family_means_to_the_service_what_is_written(self):
        for sequence in [es.Constant(0.1), es.Linear(0.1, -0.001), es.LinearTo(0.01, 0.1, 40), es.Step(0.1, 30, 0.5),
                         es.MultiStep(0.1, [40, 60], 0.1), es.Exponential(0.1, 0.95), es.Polynomial(0.1, 80, 0.9, 0.01),
                         es.Cosine(0.1, 0, 20, gamma=2), es.Sinusoid(0.04, 50, 0, 0.06), es.CyclicLR(0.01, 0.1, 20, 30),
                         es.OneCycle(0.1, 100, anneal="linear", three_phase=True), es.OneCyclePhase(0.1, 0.2, 0, 9.5), es.InverseSqrt(0.1, 10),
                         es.Cooldown(0.1, 0, 80, "sqrt"), es.WSD(0.1, 90, 9, warmup_steps=5), es.Warmup(0.01, 5, es.Cosine(0.1, 0, 75)),
                         es.Piecewise([0.1, es.Exponential(0.05, 0.9)], [40]), es.Table([0.1, 0.3, 0.05]), es.Scale(0.5, es.Warmup(0.01, 5, 0.1)),
                         es.Every(10, es.Exponential(0.1, 0.8))]:  # fmt: skip
            with self.subTest(str(sequence)):
                shown = self.service.json("sequence", "show", str(sequence), "--steps", "0:100")
                again = self.service.json("sequence", "show", str(es.parse(str(sequence))), "--steps", "0:100")
                self.assertEqual((shown["digest"], len(shown["values"])), (again["digest"], 100))

    def test_a_study_of_the_same_name_and_content_is_attached_to_and_any_other_is_refused(self):
        first = self.synthetic("same", space={"lr": [0.1, 0.2]}, steps=3).create()
        again = self.synthetic("same", space={"lr": [0.1, 0.2]}, steps=3).create()
        self.assertEqual((again.id, again.attached, first.attached), (first.id, True, False))
        with self.assertRaisesRegex(es.AlreadyExists, "same"):
            self.synthetic("same", space={"lr": [0.1, 0.3]}, steps=3).create()
        first.cancel()

    def test_trials_go_on_are_left_and_are_let_go(self):
        study = self.synthetic("going on")
        future = study.submit({"lr": es.Exponential(0.1, 0.9), "bs": 32}, steps=2, horizon=50)
        self.assertEqual(future.result(300).step, 2)
        trial = future.trial
        self.assertEqual((trial.state, trial.horizon, trial.hyper_parameters), ("idle", 50, {"bs": 32, "lr": es.Exponential(0.1, 0.9)}))
        self.assertEqual(trial.extend(30).result(300).step, 30)
        self.assertEqual(trial.extend(30 + 20).trial.study.id, study.id)
        beyond = trial.extend(60)
        self.assertNotEqual(beyond.trial.study.id, study.id)
        self.assertEqual(beyond.result(300).step, 60)
        branches = trial.branch(at=[20, 40], decay=0.5, shapes=["sqrt", "linear"])
        self.assertEqual([each.result(300).step for each in branches], [40, 40, 80, 80])
        lr = branches[0].trial.hyper_parameters["lr"]
        self.assertEqual((lr.milestones, lr.pieces[0], lr.pieces[1].shape, lr.pieces[1].period), ((20,), es.Exponential(0.1, 0.9), "sqrt", 20))
        other = trial.branch(at=10, change={"bs": 64, "lr": es.Constant(0.3)}, steps=15, name="another way")
        self.assertEqual(other[0].result(300).step, 15)
        # It is finished once the state is stored, too.
        self.assertTrue(self.client.open_study("another way").wait(300))
        self.assertEqual(trial.refresh().steps, 50)
        with self.assertRaisesRegex(es.InvalidArgument, "change: what shall change"):
            trial.branch(at=10)
        trial.close()
        self.assertEqual(trial.refresh().state, "done")
        withdrawn = study.submit({"lr": 0.1, "step_seconds": 3600}, steps=5)
        self.assertTrue(withdrawn.cancel())
        with self.assertRaises(es.TrialCancelled):
            withdrawn.result(300)
        self.assertEqual([each.id for each in study.trials.that_are("cancelled")], [withdrawn.trial.id])
        self.assertEqual((len(study.trials), len(study.trials.that_are("done"))), (2, 1))
        study.cancel()
        self.assertTrue(study.wait(300))

    def test_a_study_is_pinned_and_let_go_of(self):
        study = self.synthetic("pinned", keep="none")
        study.submit({"lr": 0.1, "bs": 32}, steps=2).result(300)
        self.assertEqual(study.show().keep, "none")
        study.pin()
        self.assertEqual(study.show().keep, "claimed")
        study.finish()
        self.assertTrue(study.wait(300))
        study.pin("best")
        self.assertEqual(study.show().keep, "best")
        with self.assertRaisesRegex(es.InvalidArgument, "keep: .*expected .*claimed"):
            study.pin("some")

    def test_lists_are_read_in_pages_and_by_metric(self):
        study = self.synthetic("many", steps=2)
        draw = random.Random(7)
        study.submit([{"curve_limit": draw.random(), "lr": index} for index in range(1203)])
        study.finish()
        self.assertTrue(study.wait(600))
        trials = list(study.trials)
        self.assertEqual([each.hyper_parameters["lr"] for each in trials], list(range(1203)))
        metrics = [each.metric for each in study.trials.best_first()]
        self.assertEqual(metrics, sorted(metrics))
        self.assertEqual([each.metric for each in study.trials.best_first().first(3)], metrics[:3])
        self.assertEqual((study.trials[1202].id, study.trials[-1].id), (trials[-1].id, trials[-1].id))
        frame = study.trials_dataframe()
        self.assertEqual((len(frame), frame.index.name), (1203, "trial"))
        self.assertEqual(frame.sort_values("test_loss").index[0], study.best.id)
        self.assertEqual(set(frame["state"]), {"done"})

    def test_a_tuner_of_ones_own_that_is_started_again_goes_on_where_it_was(self):
        class Seeded:
            """Draws from a seed and from what it was told; its process dies after so many tells."""

            def __init__(self, dies_after=math.inf):
                self.draws, self.sum, self.told, self.dies_after = random.Random(7), 0.0, [], dies_after

            def ask(self):
                return {"curve_limit": (self.draws.random() + self.sum) % 1}

            def tell(self, proposal, evaluation):
                if len(self.told) == self.dies_after:
                    raise KeyboardInterrupt
                self.told.append((evaluation.trial_id, evaluation.step, evaluation["test_loss"]))
                self.sum += evaluation["test_loss"]
                return evaluation["test_loss"] < 0.9

        def drive(tuner):
            study = self.synthetic("own", space=es.Space({"curve_limit": es.uniform(0, 1)}))
            study.drive(tuner, at=[1, 2, 3], at_once=1, trials=8)
            return study

        killed = Seeded(dies_after=6)
        with self.assertRaises(KeyboardInterrupt):
            drive(killed)
        again = Seeded()
        study = drive(again)
        self.assertEqual(again.told[:6], killed.told)
        self.assertTrue(study.wait(300))
        self.assertEqual(len(study.trials), 8)
        self.assertEqual(study.show().steps.wasted, 0)

    def test_a_tuner_of_ones_own_that_proposes_something_else_has_trials_beside_what_is_there(self):
        space = es.Space({"curve_limit": es.uniform(0, 1)})
        first, second = (self.synthetic("beside", space=space) for _ in range(2))
        for study, value in ((first, 0.25), (second, 0.75)):
            tuning = study.ask_tell(at=2)
            tuning.submit({"curve_limit": value})
            self.assertEqual([told.proposal for told in tuning], [{"curve_limit": value}])
        self.assertEqual(first.id, second.id)
        self.assertEqual([trial.hyper_parameters["curve_limit"] for trial in first.trials], [0.25, 0.75])
        first.cancel()

    def test_a_tuner_of_ones_own_is_told_what_it_asked_for(self):
        class HillClimber:
            def __init__(self):
                self.best, self.told = (None, 0.5), []

            def ask(self):
                return {"curve_limit": min(1.0, max(0.0, self.best[1] + random.uniform(-0.2, 0.2)))}

            def tell(self, proposal, evaluation):
                self.told.append((evaluation.trial_id, evaluation.step))
                value = evaluation["test_loss"]
                if evaluation.step == 3 and (self.best[0] is None or value < self.best[0]):
                    self.best = (value, proposal["curve_limit"])
                return self.best[0] is None or value < self.best[0] + 0.1

        tuner = HillClimber()
        study = self.synthetic("climbing", space=es.Space({"curve_limit": es.uniform(0, 1)}))
        study.drive(tuner, at=[1, 2, 3], at_once=3, trials=12)
        self.assertTrue(study.wait(300))
        self.assertEqual(len(study.trials), 12)
        steps = {trial: [step for each, step in tuner.told if each == trial] for trial, _ in tuner.told}
        self.assertEqual(len(steps), 12)
        for of_trial in steps.values():
            self.assertEqual(of_trial, list(range(1, 1 + len(of_trial))))
        self.assertEqual(study.best.metric, tuner.best[0])

    def test_coroutines_drive_studies_too(self):
        async def main():
            study = self.synthetic("coroutines")
            futures = study.submit([{"lr": 0.1}, {"lr": 0.2}, {"lr": 0.3}], steps=4)
            seen = [future.trial.id async for future in es.as_completed(futures, 300)]
            self.assertEqual(sorted(seen), [future.trial.id for future in futures])
            self.assertEqual((await futures[0]).step, 4)
            study.cancel()

        asyncio.run(main())

    def test_wrong_use_says_what_to_do(self):
        cancelled = self.synthetic("cancelled").create([{"lr": 0.1}])
        cancelled.cancel()
        for make, kind, field, expected in [
            (lambda: self.digits("wrong").submit({"lr": "MultiStep(0.1, [60, 40], 0.1)"}), es.InvalidArgument, "trials[0].lr", "strictly increasing"),
            (lambda: self.digits("wrong 1").submit({"lr": "Exponential(1e300, 1e10)"}), es.InvalidArgument, "trials[0].lr", "finite"),
            (lambda: self.digits("wrong 2").submit({"lrr": 0.1}), es.InvalidArgument, "trials[0].lrr", "lrr"),
            (lambda: self.digits("wrong 3").submit({"bs": 0.5}), es.InvalidArgument, "trials[0].bs", "whole"),
            (lambda: self.digits("wrong", trainer="mlpp").create(), es.InvalidArgument, "trainer", "expected one of: mlp"),
            (lambda: self.digits("wrong", data="digit").create(), es.InvalidArgument, "data", "digits"),
            (lambda: self.digits("wrong", metric="f1").create(), es.InvalidArgument, "metric", "test_acc"),
            (lambda: self.digits("wrong", metric=None).create(), es.InvalidArgument, "metric", "expected one of: test_acc"),
            (lambda: self.digits("wrong", goal="up").create(), es.InvalidArgument, "goal", "max or min"),
            (lambda: self.digits("wrong", metric="f1").forecast(), es.InvalidArgument, "metric", "test_acc"),
            (lambda: self.synthetic("mixed").submit([{"a": "x"}, {"a": 1}], steps=1), es.InvalidArgument, "hyper_parameters.a", "one type"),
            (lambda: cancelled.submit({"lr": 0.1}, steps=1), es.FailedPrecondition, None, "takes no more"),
            (lambda: self.client.open_study(4711), es.NotFound, None, "4711"),
            (lambda: self.client.open_study("nowhere"), es.NotFound, None, "nowhere"),
            (lambda: es.connect(self.client.connection.address, "espalier_" + "0" * 64).open_study(1), es.Unauthenticated, None, "token"),
        ]:  # fmt: skip
            with self.subTest(expected, kind=kind), self.assertRaises(kind) as raised:
                make()
            self.assertIn(expected, str(raised.exception))
            if field is not None:
                self.assertEqual(raised.exception.field, field)
        for study in self.client.studies(state="running"):
            if study.name.startswith("wrong"):
                self.client.open_study(study.id).cancel()

    def test_what_the_service_has_to_train_with_is_said(self):
        (server,) = self.client.servers()
        self.assertEqual((server.connected, server.slots, server.trouble), (True, 2, ""))
        mlp = next(each for each in self.client.trainers() if (each.name, each.data) == ("mlp", "digits"))
        self.assertEqual(mlp.hyper_parameters["lr"].type, float)
        self.assertTrue(mlp.hyper_parameters["seed"].initial)
        self.assertIn("test_acc", mlp.metrics)
        self.assertFalse(mlp.takes_any)

    def test_studies_are_listed_the_newest_first_or_the_best_first(self):
        for name, limit in (("list 1", 0.9), ("list 2", 0.5), ("list 3", 0.7)):
            study = self.synthetic(name)
            study.submit({"curve_limit": limit}, steps=3).result(300)
            study.finish()
            study.wait(300)
        names = [each.name for each in self.client.studies() if each.name.startswith("list")]
        self.assertEqual(names, ["list 3", "list 2", "list 1"])
        best = [each for each in self.client.studies(metric="test_loss", goal="min", state="finished") if each.name.startswith("list")]
        self.assertEqual([each.best.value for each in best], sorted(each.best.value for each in best))


class FaultsTest(unittest.TestCase):
    def test_a_study_outlives_its_master_and_comes_to_the_same_results(self):
        with Service() as service, es.connect(data=service.data) as client:

            def study(name):
                return client.study(name, trainer="mlp", data="digits", step="20 updates", space=SPACE, metric="test_acc", goal="max", steps=12,
                                    share="study")  # fmt: skip

            def run(name, disturb):
                made = study(name)
                futures = made.submit()
                disturb(made)
                evaluations = es.wait_all(futures, 300)
                made.finish()
                self.assertTrue(made.wait(300))
                return [(each.state, each.metrics) for each in evaluations]

            def kill(made):
                for trained in (10, 30):
                    wait_until(lambda: made.show().steps.trained >= trained, f"{trained} steps are trained")
                    service.kill("master")

            undisturbed = run("undisturbed", lambda made: None)
            self.assertEqual(run("disturbed", kill), undisturbed)
            self.assertEqual(results(service, "disturbed"), results(service, "undisturbed"))

    def test_a_server_that_was_stopped_is_waited_for_as_long_as_the_user_likes(self):
        with Service() as service:
            patient = self.enterContext(es.connect(data=service.data))
            hasty = self.enterContext(es.connect(data=service.data, policy=es.RetryPolicy(call_patience=0.1)))
            service.stop()
            with self.assertRaises(es.Unavailable):
                list(hasty.studies())
            service.start()
            self.assertEqual(list(patient.studies()), [])


if __name__ == "__main__":
    unittest.main()
