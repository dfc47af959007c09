"""The service's own tuners, asked for from Python: they decide in the tuner host."""

import contextlib
import io
import os
import subprocess
import sys
import textwrap
import unittest

import espalier as es
from service import Service, results, wait_until

SPACE = es.Grid({"lr": [0.1, es.MultiStep(0.1, [4], 0.1), es.Exponential(0.1, 0.9), es.Piecewise([0.1, 0.2], [6])], "bs": [32, es.MultiStep(32, [5], 2)],
                 "momentum": 0.9})  # fmt: skip
TUNERS = {
    "grid": es.GridSearch(steps=4),
    "sha": es.SHA(min=2, max=8, reduction=2),
    "asha": es.ASHA(min=2, max=8, reduction=2, open_trials=4),
    "asked": es.ASHA(min=2, max=8, reduction=2),
    "stopping": es.ASHA(min=2, max=8, reduction=2, stopping=True, open_trials=4),
    "hyperband": es.Hyperband(max=4, reduction=2),
    "median": es.Median(steps=8, every=2, min_trials=2),
    "early-stop": es.EarlyStop(milestones={4: 8, 8: 3}),
}


class TunersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service())
        cls.client = cls.enterClassContext(es.connect(data=cls.service.data))

    def study(self, name, **more):
        return self.client.study(name, **{**dict(trainer="mlp", data="digits", step="20 updates", space=SPACE, share="study"), **more})

    def test_every_tuner_carries_a_study_to_its_end_in_the_service(self):
        for name, tuner in TUNERS.items():
            with self.subTest(name):
                study = self.study(name).run(tuner, metric="test_acc", goal="max")
                shown = study.show()
                self.assertEqual((shown.state, sum(shown.trials.values())), ("finished", 8))
                self.assertEqual((shown.steps.wasted, set(shown.trials) - {"done", "cancelled"}), (0, set()))
                self.assertIsNotNone(study.best)

    def test_a_study_stops_at_the_first_trial_that_is_good_enough(self):
        study = self.study("stopped", stop={"metric": 0.01, "after": "2h"}).run(es.GridSearch(steps=8), metric="test_acc", goal="max")
        shown = study.show()
        self.assertEqual((shown.state, sum(shown.trials.values())), ("finished", 8))
        self.assertRegex(shown.stopped, r"^trial \d+ reached [\d.]+ at step 8$")
        self.assertIn(shown.stopped, str(shown))
        self.assertGreaterEqual(min(shown.trials["done"], shown.trials["cancelled"]), 1)
        self.assertIsNotNone(study.best)

    def test_where_nobody_says_how_many_trials_are_drawn_until_the_study_stops(self):
        space = es.Space({"lr": es.loguniform(1e-2, 0.5), "bs": [32, 64]})
        stop = {"metric": 0.01, "after": "2h"}
        for name, tuner in [("random", es.Random(steps=4)), ("few", es.Random(steps=4, open_trials=3)), ("tpe", es.TPE(steps=4)),
                            ("asha", es.ASHA(min=2, max=8, reduction=2, seed=2))]:  # fmt: skip
            with self.subTest(name):
                shown = self.study(f"until-stopped-{name}", space=space, stop=stop).run(tuner, metric="test_acc", goal="max").show()
                self.assertRegex(shown.stopped, r"^trial \d+ reached [\d.]+ at step \d$")
                self.assertIn(sum(shown.trials.values()), range(1, 50))
        with self.assertRaisesRegex(es.InvalidArgument, "random.trials: is missing; expected how many trials to draw; or give .* stop"):
            self.study("refused", space=space).run(es.Random(steps=4), metric="test_acc", goal="max")
        with self.assertRaisesRegex(es.InvalidArgument, "sha.trials: is missing; expected how many trials to draw$"):
            self.study("refused", space=space, stop=stop).run(es.SHA(min=2, max=8), metric="test_acc", goal="max")

    def test_a_stop_rule_that_makes_no_sense_is_refused_by_its_field(self):
        for stop, field in [({}, "stop"), ("2h", "stop"), ({"before": "2h"}, "stop.before"), ({"after": 2}, "stop.after"),
                            ({"after": "0s"}, "stop.after"), ({"device_hours": 0}, "stop.device_hours"),
                            ({"metric": float("nan")}, "stop.metric"), ({"metric": True}, "stop.metric")]:  # fmt: skip
            with self.subTest(stop=stop), self.assertRaises(es.InvalidArgument) as refused:
                self.study("refused", stop=stop)
            self.assertEqual(refused.exception.field, field)

    def test_a_tuner_draws_as_many_trials_as_it_is_told_from_ranges_and_from_lists(self):
        ranges = es.Space({"lr": es.Exponential(es.loguniform(1e-2, 0.5), 0.9), "bs": [32, es.MultiStep(32, [5], 2)]})
        for name, space, tuner in [("drawn", ranges, es.Random(steps=4, trials=6, seed=3)),
                                   ("drawn-of-lists", SPACE, es.SHA(min=2, max=8, reduction=2, trials=6, sampling="sobol")),
                                   ("drawn-again", ranges, es.Random(steps=2, trials=3, seed=3))]:  # fmt: skip
            with self.subTest(name):
                study = self.study(name, space=space).run(tuner, metric="test_acc", goal="max")
                self.assertEqual(len(list(study.trials)), tuner.trials)
        drawn, again = (sorted(str(trial.hyper_parameters) for trial in self.client.open_study(name).trials) for name in ("drawn", "drawn-again"))
        self.assertLess(set(again), set(drawn))

    def test_tuners_that_learn_draw_from_the_space_as_results_come_in(self):
        values = es.Space({"lr": es.loguniform(1e-2, 0.5), "bs": [32, 64]})
        for name, tuner, trials in [("tpe", es.TPE(steps=4, trials=14, seed=1), 14),
                                    ("asha-tpe", es.ASHA(min=2, max=8, reduction=2, trials=14, sampling="tpe"), 14),
                                    ("bohb", es.Hyperband(max=4, reduction=2, trials=11, sampling="tpe"), 11),
                                    ("pbt", es.PBT(steps=8, interval=2, trials=6, seed=2), None)]:  # fmt: skip
            with self.subTest(name):
                study = self.study(name, space=values).run(tuner, metric="test_acc", goal="max")
                shown = study.show()
                self.assertEqual((shown.state, shown.steps.wasted, set(shown.trials) - {"done", "cancelled"}), ("finished", 0, set()))
                self.assertEqual(sum(shown.trials.values()), trials or sum(shown.trials.values()))
        copies = [str(trial.hyper_parameters) for trial in self.client.open_study("pbt").trials if "Piecewise" in str(trial.hyper_parameters)]
        self.assertGreater(len(copies), 0)
        steps = self.client.open_study("pbt").show().steps
        self.assertLess(steps.trained, steps.claimed)  # a copy's beginning is its donor's

    def test_what_a_tuner_cannot_tune_is_said_before_anything_is_stored(self):
        sequences = es.Space({"lr": es.Exponential(es.uniform(0.1, 0.5), 0.9)})
        for field, space, tuner in [("hyper_parameters.lr", sequences, es.PBT(steps=8, interval=2, trials=4)),
                                    ("hyper_parameters.rate", es.Grid({"rate": [0.1, 0.2]}), es.GridSearch(steps=4)),
                                    ("hyper_parameters.bs", es.Grid({"lr": [0.1], "bs": [32, 64, 0.5]}), es.SHA(min=2, max=8)),
                                    ("hyper_parameters.rate", es.Space({"rate": es.uniform(0, 1)}), es.TPE(steps=4, trials=4)),
                                    ("early_stop.milestones", SPACE, es.EarlyStop(milestones={4: 3}))]:  # fmt: skip
            with self.assertRaises(es.InvalidArgument) as raised:
                self.study("refused", space=space).run(tuner, metric="test_acc", goal="max")
            self.assertEqual(raised.exception.field, field)
        self.assertNotIn("refused", [study.name for study in self.client.studies()])

    def test_a_study_file_that_says_the_same_attaches_to_the_study(self):
        ranges = es.Space({"lr": es.Exponential(es.loguniform(1e-2, 0.5), 0.9), "bs": [32, es.MultiStep(32, [5], 2)]})
        lists = es.Grid({"lr": [0.1, es.Exponential(0.1, 0.9)], "momentum": 0.5})
        spaces = {ranges: 'lr: "Exponential(loguniform(0.01, 0.5), 0.9)"\n  bs: [32, "MultiStep(32, [5], 2)"]',
                  lists: 'lr: [0.1, "Exponential(0.1, 0.9)"]\n  momentum: 0.5'}  # fmt: skip
        for name, space, tuner, written in [("drawn", ranges, es.Random(steps=400, trials=3), "random: {steps: 400, trials: 3}"),
                                            ("listed", lists, es.SHA(min=100, max=400, reduction=2), "sha: {min: 100, max: 400, reduction: 2}")]:  # fmt: skip
            with self.subTest(name):
                study = self.study(f"{name}-by-both", space=space).run(tuner, metric="test_acc", goal="max", wait=False)
                text = f"study: {name}-by-both\ntrainer: mlp\ndata: digits\nstep: 20 updates\nshare: study\nhyper_parameters:\n  {spaces[space]}\n"
                file = self.service.write(f"{name}.yaml", text + f"metric: {{name: test_acc, goal: max}}\ntuner: {{{written}}}\n")
                ran = self.service.run("study", "run", file, "--check", "beside", check=False)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertEqual(study.show().state, "finished")
                self.assertEqual([each.id for each in self.client.studies() if each.name == study.show().name], [study.id])

    def test_decisions_are_those_of_the_same_study_on_the_command_line(self):
        file = textwrap.dedent("""\
            study: by-file
            trainer: mlp
            data: digits
            step: 20 updates
            share: nobody
            hyper_parameters:
              lr: [0.1, "MultiStep(0.1, [4], 0.1)", "Exponential(0.1, 0.9)", "Piecewise([0.1, 0.2], [6])"]
              bs: [32, "MultiStep(32, [5], 2)"]
              momentum: 0.9
            metric: {name: test_acc, goal: max}
            tuner: {sha: {min: 2, max: 8, reduction: 2}}
            """)
        self.service.run("study", "run", self.service.write("by_file.yaml", file))
        self.study("by-python").run(TUNERS["sha"], metric="test_acc", goal="max")
        self.assertEqual(results(self.service, "by-python"), results(self.service, "by-file"))

    def test_trials_of_ones_own_choice_are_what_it_tries(self):
        chosen = SPACE.where(lambda trial: trial["bs"] == 32)
        study = self.study("chosen").run(TUNERS["sha"], trials=chosen, metric="test_acc", goal="max")
        self.assertEqual(sorted(str(trial.hyper_parameters["lr"]) for trial in study.trials), sorted(str(each["lr"]) for each in chosen))

    def test_a_study_goes_on_when_the_process_that_began_it_is_killed(self):
        program = textwrap.dedent(f"""\
            import espalier as es
            client = es.connect(data={str(self.service.data)!r})
            space = es.Grid({{"lr": [0.1, 0.2, 0.3, 0.4], "step_seconds": 0.05}})
            client.study("left", trainer="synthetic", space=space, metric="test_loss", goal="min").run(es.SHA(min=4, max=16, reduction=2))
            """)
        running = subprocess.Popen([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": ":".join(sys.path)})
        study = wait_until(self.begun, "something is trained")
        running.kill()
        running.wait()
        self.assertTrue(study.wait(300))
        self.assertEqual(study.show().trials, {"done": 4})

    def begun(self):
        try:
            study = self.client.open_study("left")
        except es.NotFound:
            return None
        return study if study.show().steps.trained > 0 else None

    def test_the_same_again_attaches_and_comes_to_the_same(self):
        slow = es.Grid({"lr": [0.1, 0.2], "step_seconds": 0.05})
        first = self.study("again", trainer="synthetic", data="", step="epoch", space=slow, metric="test_loss", goal="min").run(es.SHA(min=4, max=16), wait=False)
        second = self.study("again", trainer="synthetic", data="", step="epoch", space=slow, metric="test_loss", goal="min").run(es.SHA(min=4, max=16))
        self.assertEqual((second.id, second.attached), (first.id, True))

    def test_the_bar_ends_full_where_some_was_trained_before(self):
        try:
            import tqdm  # noqa: F401
        except ImportError:
            self.skipTest("tqdm is not installed")
        self.study("bar-before").run(TUNERS["grid"], metric="test_acc", goal="max")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            shown = self.study("bar", share="team").run(es.SHA(min=2, max=8, reduction=2), metric="test_acc", goal="max").show()
        last = said.getvalue().splitlines()[-1].rpartition("\r")[2]
        self.assertRegex(last, rf"^bar: 100%.* {shown.steps.unique}/{shown.steps.unique} .*{shown.trials['done']} done")

    def test_wrong_use_says_what_to_do(self):
        with self.assertRaisesRegex(es.InvalidArgument, "study.drive"):
            self.study("wrong").run(object())
        with self.assertRaisesRegex(es.InvalidArgument, "sha.min: expected a whole number"):
            es.SHA(min=0, max=8)
        with self.assertRaisesRegex(es.InvalidArgument, "metric"):
            self.study("wrong").run(es.SHA(min=2, max=8), goal="max")
        for options, field in (({"trials": 0}, "random.trials"), ({"trials": 2, "seed": -1}, "random.seed: expected a whole number of at least 0"),
                               ({"trials": 2, "sampling": "halton"}, "random.sampling: expected random or sobol")):  # fmt: skip
            with self.assertRaisesRegex(es.InvalidArgument, field):
                es.Random(steps=2, **options)
        for space, trials, field in ((es.Grid({"lr": [0.1]}), None, "nothing to draw from"), (es.Space({"lr": 0.1}), None, "nothing to draw from"),
                                     (SPACE, [{"lr": 0.1}], "not both")):
            with self.assertRaisesRegex(es.InvalidArgument, field):
                self.study("wrong", space=space).run(es.Random(steps=2, trials=2), trials=trials, metric="test_acc", goal="max")
        with self.assertRaisesRegex(es.InvalidArgument, "sha.trials: is missing"):
            self.study("wrong").run(es.SHA(min=2, max=8, seed=1), metric="test_acc", goal="max")
        for trials, field in (([], "trials: expected at least one"), ([{"lr": es.uniform(0, 1)}], r"trials\[0\].lr: expected a chosen value")):
            with self.assertRaisesRegex(es.InvalidArgument, field):
                self.study("wrong", metric="test_acc", goal="max").run(TUNERS["sha"], trials=trials)
        created = self.study("created", metric="test_acc", goal="max").create()
        self.addCleanup(created.cancel)
        for study in (created, self.client.open_study("created")):
            with self.assertRaisesRegex(es.FailedPrecondition, "client.study"):
                study.run(es.SHA(min=2, max=8))


if __name__ == "__main__":
    unittest.main(verbosity=2)
