"""The trainer `synthetic`, and forecasts as users run them: the studies of the thesis, what is trained already, near misses."""

import pathlib
import subprocess
import unittest

from service import Service, results

STUDIES = pathlib.Path(__file__).parents[2] / "bench" / "studies"
SINGLE = {"resnet56-sha": (448, 2.45), "resnet56-asha": (448, 2.45), "mobilenet-v2-grid": (240, 3.14),
          "bert-base-grid": (40, 2.05)}
TOGETHER = {("first", 1, 2): 2.26, ("first", 1, 4): 2.77, ("first", 1, 8): 2.47,
            ("second", 1, 2): 1.40, ("second", 2, 5): 1.19, ("second", 1, 8): 1.66}


def study(name, share, tuner="sha: {min: 2, max: 8, reduction: 2}", more=""):
    """Any hyper-parameters, some of which have no effect at first or at all."""
    return f"""
study: {name}
trainer: synthetic
evaluate: {{every: 3}}
hyper_parameters:
  lr: [0.1, "MultiStep(0.1, [4], gamma=0.1)", "Exponential(0.1, 0.9)"]
  warp: [9, "MultiStep(9, [3], gamma=2)"]
  boost: [0, "Piecewise([0, 0.5, 0], [3, 6])"]
  mood: [calm, 'Piecewise(["calm", "wild"], [5])']
  curve_noise: 0.01
  state_bytes: 5000
{more}metric: {{name: test_acc, goal: max}}
tuner: {{{tuner}}}
share: {share}
"""


class ForecastTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.service.start()

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__(None, None, None)

    def near(self, value, expected):
        self.assertLess(abs(value / expected - 1), 0.05, f"{value} instead of {expected}")

    def test_the_studies_of_the_thesis_have_its_trials_and_merge_rates(self):
        for name, (trials, rate) in SINGLE.items():
            with self.subTest(name):
                forecast = self.service.json("study", "forecast", STUDIES / f"{name}.yaml")
                self.assertEqual(forecast["trials"], trials)
                self.near(forecast["merge_rate"], rate)
                self.assertEqual(forecast["studies"][0]["merge_rate"], forecast["merge_rate"])
        for (which, first, last), rate in TOGETHER.items():
            with self.subTest(f"{which} {first} to {last}"):
                files = [STUDIES / f"{which}-{number}.yaml" for number in range(first, last + 1)]
                forecast = self.service.json("study", "forecast", *files)
                self.assertEqual([s["trials"] for s in forecast["studies"]], [144] * len(files))
                self.near(forecast["merge_rate"], rate)

    def test_sharing_is_invisible_to_any_hyper_parameters(self):
        before = self.service.json("study", "forecast", self.service.write("before.yaml", study("shared", "team")))
        self.assertEqual((before["trials"], before["trained_steps"]), (24, 0))
        for name, share in (("shared", "team"), ("alone", "nobody")):
            self.service.run("study", "run", self.service.write(f"{name}.yaml", study(name, share)))
        shared = results(self.service, "shared")
        self.assertEqual(shared, results(self.service, "alone"))
        self.assertTrue(all(digest for _, _, _, digest in shared.values()))
        steps = self.service.json("study", "show", "shared")["steps"]
        self.assertEqual((steps["trained"], steps["wasted"], steps["re_derived"]), (steps["unique"], 0, 0))
        self.assertGreater(steps["claimed"], steps["unique"])

        again = self.service.json("study", "forecast", self.service.write("again.yaml", study("again", "team")))
        self.assertEqual(again["trained_steps"] + again["remaining_steps"], again["unique_steps"])
        self.assertEqual(again["trained_steps"], steps["unique"])
        self.assertGreater(again["slot_seconds"], 0)
        self.assertGreater(again["checkpoint_bytes"], 5000)
        # A study that never names what has no effect shares with those that do.
        other = study("other", "team", "grid: {steps: 3}").replace("  boost:", "  other: [0]\n  #")
        forecast = self.service.json("study", "forecast", self.service.write("other.yaml", other))
        self.assertGreater(forecast["trained_steps"], 0)

    def test_what_is_not_known_is_null_and_near_misses_are_pointed_out(self):
        text = study("new", "study", "grid: {steps: 8}", 'trials:\n  - {lr: "Piecewise([0.1, 0.01], [4])"}\n')
        text = text.replace("state_bytes: 5000", "state_bytes: 777")
        forecast = self.service.json("study", "forecast", self.service.write("new.yaml", text))
        self.assertIsNone(forecast["checkpoint_bytes"])
        self.assertEqual(forecast["near_miss_count"], 1)
        near = forecast["near_misses"][0]
        self.assertEqual((near["hyper_parameter"], near["from_step"], near["to_step"]), ("lr", 4, None))
        self.assertEqual({near["first"], near["second"]},
                         {"MultiStep(0.1, [4], gamma=0.1)", "Piecewise([0.1, 0.01], [4])"})

    def test_what_shares_nothing_is_said_with_the_change_that_would_and_that_change_does(self):
        for lr, word in ((["WSD(0.1, 80, 10, 10)", "WSD(0.2, 80, 10, 10)"], "rise"), (["Cosine(0.1, 0, 40)", "Cosine(0.1, 0, 80)"], "fall")):
            with self.subTest(word):
                file = self.service.write("apart.yaml", sweep(lr))
                forecast = self.service.json("study", "forecast", file)
                self.assertEqual((forecast["merge_rate"], forecast["early_parting_count"]), (1, 1))
                parting = forecast["early_partings"][0]
                self.assertEqual((parting["hyper_parameter"], parting["sequences"], parting["at_step"]), ("lr", lr, 0))
                self.assertIn(f"part at step 0: they {word}", parting["hint"])
                text = self.text("study", "forecast", file)
                self.assertIn("sharing saves nothing: no two trials begin alike\n", text)
                self.assertIn(f"  lr: {lr[0]}, {lr[1]} {parting['hint']}\n", text)
        for lr, shared in ((["WSD(0.1, 80, 10, 10)", "WSD(0.2, 80, 10, 20)"], 10), (["WSD(0.1, 40, 10)", "WSD(0.1, 80, 10)"], 30)):
            file = self.service.write("sharing.yaml", sweep(lr))
            forecast = self.service.json("study", "forecast", file)
            self.assertEqual((forecast["total_steps"] - forecast["unique_steps"], forecast["early_partings"]), (shared, []))
            self.assertNotIn("saves nothing", self.text("study", "forecast", file))

    def text(self, *arguments):
        command = [each for each in self.service.command(*arguments) if each not in ("--output", "json")]
        return subprocess.run(command, env=self.service.environment(), capture_output=True, text=True, check=True).stdout


def sweep(lr):
    return f"""
study: sweep
trainer: synthetic
hyper_parameters:
  lr: {lr}
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: 80}}}}
"""


if __name__ == "__main__":
    unittest.main(verbosity=2)
