"""Traces of real studies: exported, and replayed in the simulator beside what really happened."""

import json
import subprocess
import unittest

from service import BIN, Service, wait_until

STEP_SECONDS = 0.1
# A machine that is busy with something else meanwhile is slower than its own measurements by what it likes; the bench `replay` says
# how near replays come.
PERCENT_MORE_MAX = 40


def halving(name):
    """Eight trials in pairs that share their first ten steps."""
    rates = ", ".join(f'"MultiStep({lr}, [10], gamma={gamma})"' for lr in (0.1, 0.2, 0.3, 0.4) for gamma in (0.1, 0.5))
    return f"""
study: {name}
trainer: synthetic
hyper_parameters:
  lr: [{rates}]
  step_seconds: {STEP_SECONDS}
evaluate: {{every: 5}}
metric: {{name: test_acc, goal: max}}
tuner: {{sha: {{min: 5, max: 20, reduction: 2}}}}
"""


class ReplayTest(unittest.TestCase):
    def export(self, service, studies, trace):
        """It gives out files, not JSON: the finished process."""
        return subprocess.run([BIN / "espalier", "study", "export", *map(str, studies), "--trace", trace], env=service.environment(),
                              capture_output=True, text=True, timeout=600)

    def simulate(self, service, trace, *more):
        result = service.run("simulate", "--trace", trace, *more)
        return json.loads(result.stdout), result.stderr

    def test_a_real_study_is_replayed_as_it_was_and_under_other_policies_and_slots(self):
        with Service(slots=2) as service:
            service.run("study", "run", service.write("halving.yaml", halving("halving")))
            really = service.json("study", "show", "halving")
            trace = service.root / "halving.trace"
            self.assertEqual(self.export(service, ["halving"], trace).stderr, "")
            again = self.export(service, ["halving"], trace)
            self.assertEqual(again.returncode, 1)
            self.assertIn("is there already", again.stderr)

            picture = service.root / "halving.svg"
            [replayed], said = self.simulate(service, trace, "--plot", picture)
            print("replayed in", replayed["end_to_end_seconds"], "s:", replayed["percent_more"], "% more than it was")
            self.assertEqual(replayed["policy"], "critical_path")
            self.assertEqual(replayed["slots"], 2)
            [study] = replayed["studies"]
            for key in ("claimed", "unique", "trained"):
                self.assertEqual(study["steps"][key], really["steps"][key], key)
            self.assertEqual(study["trials"], really["trials"]["total"])
            self.assertEqual(replayed["estimated"], {"steps": 0, "evaluations": 0})
            self.assertEqual(said, f"wrote {picture}\n")
            self.assertAlmostEqual(replayed["really"]["end_to_end_seconds"], really["elapsed_seconds"], delta=0.1)
            self.assertLess(abs(replayed["percent_more"]), PERCENT_MORE_MAX)
            self.assertIn("what really happened", picture.read_text())

            all_ways, _ = self.simulate(service, trace, "--slots", "4", "--policy", "critical_path,breadth_first", "--share",
                                        "team,nobody")
            self.assertEqual([(way["policy"], way["share"]) for way in all_ways],
                             [("critical_path", "team"), ("critical_path", "nobody"), ("breadth_first", "team"),
                              ("breadth_first", "nobody")])
            shared, alone = all_ways[0], all_ways[1]
            self.assertEqual(shared["slots"], 4)
            self.assertLess(shared["end_to_end_seconds"], replayed["end_to_end_seconds"])
            self.assertEqual(alone["steps"]["trained"], alone["steps"]["claimed"])
            self.assertGreater(alone["steps"]["trained"], shared["steps"]["trained"])

    def test_trials_that_no_tuner_asked_for_are_asked_for_when_they_really_were(self):
        with Service(slots=2) as service:
            service.run("study", "run", service.write("halving.yaml", halving("halving")))
            best = service.json("study", "best", "halving")["trial"]
            branched = service.json("trial", "branch", best, "--at", "10", "--set", "lr=0.05", "--steps", "30")
            service.run("study", "watch", branched["study"])
            trace = service.root / "both.trace"
            self.assertEqual(self.export(service, ["halving", branched["study"]], trace).stderr, "")
            [replayed], said = self.simulate(service, trace)
            first, second = replayed["studies"]
            self.assertEqual(second["arrives_at_seconds"] > first["end_to_end_seconds"] * 0.5, True)
            self.assertEqual(second["steps"]["claimed"], 30)
            self.assertEqual(second["steps"]["trained"], 20)  # what it shares with the first, that one trained
            self.assertIn("steps were trained before", said)
            self.assertLess(abs(second["percent_more"]), 2 * PERCENT_MORE_MAX)

    def test_what_is_no_finished_study_is_not_exported(self):
        with Service(slots=1) as service:
            service.run("study", "run", service.write("long.yaml", halving("long").replace("max: 20", "max: 2000")), "--detach")
            refused = self.export(service, ["long"], service.root / "long.trace")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("is running; a trace is of what is finished", refused.stderr)
            self.assertFalse((service.root / "long.trace").exists())
            wait_until(lambda: service.json("study", "show", "long")["steps"]["trained"] > 0, "a step is trained")
            service.run("study", "cancel", "long")
            wait_until(lambda: service.json("study", "show", "long")["state"] != "running", "what it was promised is stored")
            self.assertEqual(self.export(service, ["long"], service.root / "long.trace").stderr, "")
            [replayed], _ = self.simulate(service, service.root / "long.trace")
            self.assertLess(abs(replayed["end_to_end_seconds"] - replayed["really"]["end_to_end_seconds"]), 2)


if __name__ == "__main__":
    unittest.main()
