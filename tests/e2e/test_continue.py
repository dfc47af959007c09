"""Going on from a trial, whatever has become of it: past its horizon, or another way from an earlier step."""

import unittest

from service import Service

STUDY = """
study: {name}
trainer: synthetic
hyper_parameters:
  lr: {lr}
  seed: {seed}
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: {steps}}}}}
share: {share}
"""


class ContinueTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.service.start()

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__(None, None, None)

    def run_study(self, name, lr, steps, share="study", seed=3):
        """Runs a study of one trial and returns the trial."""
        file = self.service.write(f"{name}.yaml", STUDY.format(name=name, lr=lr, steps=steps, share=share, seed=seed))
        self.service.run("study", "run", file)
        return self.service.json("trial", "list", name)[0]

    def trained(self, study):
        return self.service.json("study", "show", study)["steps"]["trained"]

    def continued(self, *arguments):
        document = self.service.json("trial", *arguments)
        return document["study"], document["trials"]

    def test_a_trial_is_extended_to_the_bits_of_a_longer_one(self):
        first = self.run_study("short", "Exponential(0.1, 0.9)", 20)
        longer = self.run_study("long", "Exponential(0.1, 0.9)", 50)
        study, [extended] = self.continued("extend", first["id"], "--steps", 50, "--name", "extended")
        self.assertEqual((extended["state"], extended["steps"]), ("done", 50))
        self.assertEqual(extended["state_sha256"], longer["state_sha256"])
        self.assertEqual(extended["metric"], longer["metric"])
        self.assertEqual(self.trained(study), 30)

    def test_a_trial_is_branched_to_the_bits_of_one_written_so(self):
        first = self.run_study("straight", "0.1", 20, share="nobody")
        _, [branched] = self.continued("branch", first["id"], "--at", 8, "--set", "lr=Exponential(0.2, 0.9)",
                                       "--set", "seed=4", "--steps", 30)
        written = self.run_study("written", "Piecewise([0.1, Exponential(0.2, 0.9)], [8])", 30,
                                 seed="Piecewise([3, 4], [8])")
        self.assertEqual(branched["state_sha256"], written["state_sha256"])
        _, [again] = self.continued("branch", branched["id"], "--at", 25, "--set", "lr=0.7", "--name", "again")
        self.assertEqual(again["sequences"]["lr"], "Piecewise([0.1, Exponential(0.2, 0.9), 0.7], [8, 25])")
        self.assertEqual(again["steps"], 30)

    def test_many_decays_of_one_trunk_are_one_command_and_train_the_trunk_once(self):
        trunk = self.run_study("trunk", "Warmup(0, 10, 0.1)", 90)
        study, branches = self.continued("branch", trunk["id"], "--at", "45,90", "--decay", "0.1", "--shapes",
                                         "sqrt, linear", "--set", "seed=4")
        self.assertEqual([(each["steps"], each["sequences"]["lr"]) for each in branches],
                         [(steps, f'Piecewise([Warmup(0, 10, 0.1), Cooldown(0.1, 0.0, {decay}, "{shape}")], [{at}])')
                          for at, steps, decay in ((45, 50, 5), (90, 100, 10)) for shape in ("sqrt", "linear")])
        self.assertEqual({each["sequences"]["seed"] for each in branches},
                         {"Piecewise([3, 4], [45])", "Piecewise([3, 4], [90])"})
        written = self.run_study("wsd", "WSD(0.1, 100, 10, 10)", 100, share="nobody")
        plain, [last] = self.continued("branch", trunk["id"], "--at", 90, "--decay", "0.1", "--name", "plain")
        self.assertEqual(last["state_sha256"], written["state_sha256"])
        self.assertEqual(self.trained(plain), 10)

    def test_what_cannot_be_is_refused_in_one_line(self):
        first = self.run_study("plain", "0.1", 5)
        for arguments, code, word in (((99999, "--at", 2, "--set", "lr=1"), 1, "no trial 99999"),
                                      ((first["id"], "--at", 9, "--set", "lr=1"), 1, "0 to 5"),
                                      ((first["id"], "--at", 2, "--set", "lr"), 2, "NAME=VALUE"),
                                      ((first["id"], "--at", 2, "--set", "lr=Cosin(1, 0, 5)"), 1, "Cosine"),
                                      ((first["id"], "--at", 2, "--decay", "1.5"), 1, "between 0 and 1"),
                                      ((first["id"], "--at", 2, "--decay", "much"), 2, "--decay"),
                                      ((first["id"], "--at", 4, "--decay", "0.5", "--shapes", "exp"), 1, "mirror_cosine"),
                                      ((first["id"], "--at", "2,x", "--decay", "0.5"), 2, "--at"),
                                      ((first["id"], "--at", 2), 2, "--set")):
            with self.subTest(arguments):
                result = self.service.run("trial", "branch", *arguments, check=False)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
