"""What the programs of examples/thesis do, seen from outside: trials trained from milestone to milestone, fewer each time."""

import json


def check_thesis_study(test, service):
    """The newest study named `thesis`: a tuner with (5, 8), (10, 4), then one with (2, 8), (4, 4), (8, 2), then one trial at step 7."""
    trials = service.json("trial", "list", "thesis")
    test.assertEqual([each["state"] for each in trials], ["done"] * 17)
    check_milestones(test, trials[:8], [(5, 8), (10, 4)])
    check_milestones(test, trials[8:16], [(2, 8), (4, 4), (8, 2)])
    test.assertEqual(list(measured(trials[16])), [7])
    test.assertEqual(trials[16]["sequences"], {"bs": "MultiStep(128, [4], 2)", "lr": "Exponential(0.1, 0.95)"})
    test.assertEqual(len({json.dumps(each["sequences"], sort_keys=True) for each in trials[:8]}), 8)
    test.assertEqual([each["sequences"] for each in trials[:8]], [each["sequences"] for each in trials[8:16]])


def check_milestones(test, trials, milestones):
    """Those that were measured at a milestone are as many as it says, the best at the one before: of equal ones, the first."""
    left = trials
    for step, count in milestones:
        there = [each for each in trials if step in measured(each)]
        test.assertEqual([each["id"] for each in there], sorted(each["id"] for each in left[:count]))
        left = sorted(there, key=lambda each: measured(each)[step], reverse=True)


def measured(trial):
    """Step -> metric."""
    return {each["step"]: each["metrics"]["test_acc"] for each in trial["evaluations"]}
