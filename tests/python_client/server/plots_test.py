"""Pictures of studies on a real service."""

import unittest

import espalier as es
from service import Service, wait_until

try:
    import matplotlib
except ImportError:
    raise unittest.SkipTest("matplotlib is not installed") from None
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402

STEPS = 12
LRS = [0.1, es.MultiStep(0.1, [6], 0.1), es.MultiStep(0.1, [6, 9], 0.1), es.Exponential(0.1, 0.9)]
SPACE = es.Grid({"lr": LRS, "bs": [32, es.MultiStep(32, [4], 2)]})
DARK, LIGHT = "dark_background", "default"


def points(line):
    return list(zip(*(map(float, values) for values in line.get_data())))


def brightness(colour):
    return sum(to_rgb(colour)) / 3


class PlotsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service())
        cls.client = cls.enterClassContext(es.connect(data=cls.service.data))
        cls.study = cls.client.study("pictured", trainer="mlp", data="digits", step="20 updates", space=SPACE, metric="test_loss", goal="min",
                                     evaluate_every=1).run(es.SHA(min=3, max=STEPS, reduction=2))  # fmt: skip

    def plots(self):
        return self.study.plot_curves, self.study.plot_tree, self.study.plot_importance, self.study.plot_utilization

    def tearDown(self):
        pyplot.close("all")

    def test_a_trials_curve_is_every_value_on_its_way_and_the_best_is_thickest_and_whole(self):
        ax = self.study.plot_curves()
        lines = sorted(ax.lines, key=lambda line: -line.get_linewidth())
        self.assertGreater(lines[0].get_linewidth(), lines[1].get_linewidth())
        best = self.study.best
        measured = points(lines[0])
        self.assertEqual([step for step, _ in measured], list(range(1, best.horizon + 1)))
        self.assertEqual({step: value for step, value in measured if step in best.metrics},
                         {step: each["test_loss"] for step, each in best.metrics.items()})  # fmt: skip
        self.assertEqual(ax.get_ylabel(), "test_loss (lower is better)")
        self.assertIn(f"trial {best.id}", ax.get_legend().get_texts()[0].get_text())
        self.assertEqual(self.study.best.metric, min(trial.metric for trial in self.study.trials))

    def test_shared_stretches_are_drawn_once(self):
        drawn = [pair for line in self.study.plot_curves().lines for pair in zip(points(line), points(line)[1:])]
        self.assertEqual(len(drawn), len(set(drawn)))
        ends = {trial.metric for trial in self.study.trials}
        self.assertLessEqual(ends, {value for pair in drawn for _, value in pair})

    def test_a_cross_stands_where_training_diverged(self):
        space = es.Grid({"lr": [0.1, es.Piecewise([0.1, 1e30], [2])]})
        study = self.client.study("diverging", trainer="mlp", data="digits", step="20 updates", space=space, metric="test_loss", goal="min",
                                  evaluate_every=1, share="study").run(es.GridSearch(steps=4))  # fmt: skip
        (cross,) = [line for line in study.plot_curves().lines if line.get_marker() == "x"]
        self.assertEqual([step for step, _ in points(cross)], [2])

    def test_what_steps_returned_is_drawn_by_its_name_and_an_unknown_name_is_told_the_known_ones(self):
        ax = self.study.plot_curves("loss")
        self.assertEqual(ax.get_ylabel(), "loss")
        self.assertEqual({step for line in ax.lines for step, _ in points(line)}, set(range(1, STEPS + 1)))
        with self.assertRaisesRegex(es.InvalidArgument, "metric: expected one of loss, samples, test_acc, test_loss, got 'f1'"):
            self.study.plot_curves("f1")

    def test_the_tree_has_each_trained_step_once_and_is_thick_where_it_is_shared(self):
        ax = self.study.plot_tree()
        bars = [bar for container in ax.containers for bar in container]
        green = [bar for bar in bars if to_rgb(bar.get_facecolor()) == to_rgb("#2b8a5e")]
        self.assertEqual(sum(bar.get_width() for bar in green), self.study.show().steps.unique)
        first = [bar for bar in bars if bar.get_x() == 0]
        self.assertEqual(max(bar.get_height() for bar in bars), max(bar.get_height() for bar in first))
        self.assertLess(min(bar.get_height() for bar in bars), max(bar.get_height() for bar in first))
        texts = [label.get_text() for label in ax.get_yticklabels()]
        self.assertIn("from 4: bs = 64", texts)
        self.assertIn("6 trials", [text.get_text() for text in ax.texts])
        self.assertEqual(max(bar.get_x() + bar.get_width() for bar in bars), STEPS)

    def test_a_study_without_trials_and_one_that_was_only_opened_are_pictured_too(self):
        empty = self.client.study("empty", trainer="synthetic", metric="test_loss", goal="min").create([{"lr": 0.1}])
        self.assertEqual(len(empty.plot_tree().containers), 0)
        self.assertEqual(len(empty.plot_curves().lines), 0)
        self.assertEqual(empty.plot_utilization().get_title(), "no run yet")
        with self.assertRaisesRegex(es.FailedPrecondition, "no trial has a result yet"):
            empty.plot_importance()
        opened = self.client.open_study("empty")
        with self.assertRaisesRegex(es.InvalidArgument, "metric: is missing"):
            opened.plot_curves()
        self.assertEqual(opened.plot_curves("test_loss").get_title(), "empty: 0 trials")
        empty.submit({"lr": 0.1}, steps=1).result(300)
        self.assertEqual(opened.plot_curves().get_ylabel(), "test_loss (lower is better)")
        empty.cancel()

    def test_importance_is_of_the_step_that_most_trials_reached_or_of_the_one_that_is_asked_for(self):
        ax = self.study.plot_importance()
        self.assertIn("test_loss at step 3", ax.get_xlabel())
        self.assertEqual({label.get_text() for label in ax.get_yticklabels()}, set(self.study.importances()))
        self.assertEqual(self.study.importances(), {"lr": 1.0, "bs": 0.0})  # bs changes later
        self.assertIn("at step 12", self.study.plot_importance(at=STEPS).get_xlabel())
        with self.assertRaisesRegex(es.InvalidArgument, "at: expected one of 3, 6, 12, where trials were measured, got 5"):
            self.study.importances(at=5)

    def test_every_slot_has_a_row_with_what_it_was_held_for(self):
        wait_until(lambda: {run.state for run in self.study.runs()} == {"ended"}, "all runs have ended")
        runs = self.study.runs()
        self.assertEqual([run.id for run in runs], sorted(run.id for run in runs))
        self.assertTrue(all(run.held_from <= run.held_until for run in runs))
        show = self.study.show()
        self.assertAlmostEqual(sum(run.device_seconds for run in runs), show.slot_seconds, places=3)
        self.assertEqual(sum(run.to_step - run.from_step for run in runs), show.steps.trained)
        by_slot = {}
        for run in runs:
            by_slot.setdefault((run.server, run.slot), []).append(run)
        for of_slot in by_slot.values():  # one after the other
            self.assertTrue(all(one.held_until <= next_one.held_from for one, next_one in zip(of_slot, of_slot[1:])))
        ax = self.study.plot_utilization()
        self.assertEqual(len([bar for container in ax.containers for bar in container]), len(runs))
        self.assertEqual(len(ax.get_yticklabels()), len(by_slot))
        self.assertRegex(ax.get_title(), rf"^{len(runs)} runs; slots held \d+% of the time$")

    def test_each_draws_on_the_axes_that_it_is_given(self):
        figure, axes = pyplot.subplots(4)
        for plot, ax in zip(self.plots(), axes):
            self.assertIs(plot(ax=ax), ax)
        self.assertEqual(pyplot.get_fignums(), [figure.number])

    def test_every_picture_is_readable_in_light_and_in_dark(self):
        for style in (LIGHT, DARK):
            with pyplot.style.context(style):
                for plot in self.plots():
                    with self.subTest(style, plot=plot.__name__):
                        ax = plot()
                        ax.figure.canvas.draw()
                        ground = brightness(ax.get_facecolor())
                        texts = [*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label, ax.title]
                        texts += ax.get_legend().get_texts() if ax.get_legend() else []
                        for text in texts:
                            self.assertGreater(abs(brightness(text.get_color()) - ground), 0.5, text)
                        for line in ax.lines:
                            if line.get_linestyle() != "None":
                                self.assertGreater(abs(brightness(line.get_color()) - ground), 0.3, line)

    def test_a_trial_shows_itself_in_a_notebook(self):
        best = self.study.best
        shown = best._repr_html_()
        for part in (f"{best.id} of study {self.study.id}", best.hyper_parameters["lr"], f"done at step {best.steps} of {STEPS}", f"{best.metric:.5g}"):
            self.assertIn(str(part), shown)


if __name__ == "__main__":
    unittest.main()
