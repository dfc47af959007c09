"""Where trials part."""

import random
import unittest

from espalier.export.forks import Fork, Way, forks

STEPS = 12


def way(trial, steps=STEPS, **segments):
    return Way(trial, steps, {name: tuple(each) for name, each in segments.items()})


def functions_at(each, step):
    """What is in force at a step: (first step, function) of each hyper-parameter."""
    return {name: max(segment for segment in segments if segment[0] <= step) for name, segments in each.segments.items()}


def shared(one, other):
    """How many steps two trials share, looked at step by step."""
    both = min(one.steps, other.steps)
    return next((step for step in range(both) if functions_at(one, step) != functions_at(other, step)), both)


def drawn(trial, draw):
    segments = {}
    for name in ("lr", "bs"):
        starts = sorted({0, *(draw.randrange(STEPS) for _ in range(draw.randrange(4)))})
        chosen = [draw.choice("ab") for _ in starts]
        # As the service gives them: a segment has another function than the one before it.
        segments[name] = tuple((start, each) for index, (start, each) in enumerate(zip(starts, chosen)) if not index or each != chosen[index - 1])
    return Way(trial, draw.randrange(STEPS + 1), segments)


class ForksTest(unittest.TestCase):
    def test_a_trial_parts_where_any_of_its_functions_is_another(self):
        found = forks([way(1, lr=[(0, "0.1")], bs=[(0, "32")]),
                       way(2, lr=[(0, "0.1"), (4, "0.01")], bs=[(0, "32")]),
                       way(3, lr=[(0, "0.1"), (4, "0.01"), (8, "0.001")], bs=[(0, "32")]),
                       way(4, lr=[(0, "0.1"), (4, "0.01")], bs=[(0, "32"), (6, "64")])])  # fmt: skip
        self.assertEqual(found, {2: Fork(1, 4), 3: Fork(2, 8), 4: Fork(2, 6)})

    def test_a_trial_that_begins_otherwise_is_no_fork(self):
        self.assertEqual(forks([way(1, lr=[(0, "0.1")]), way(2, lr=[(0, "0.2")]), way(3, lr=[(0, "0.1")], bs=[(0, "32")])]), {})

    def test_no_more_is_shared_than_both_were_trained(self):
        constant = [(0, "0.1")]
        self.assertEqual(forks([way(1, 3, lr=constant), way(2, 9, lr=constant), way(3, 5, lr=constant), way(4, 0, lr=constant)]),
                         {2: Fork(1, 3), 3: Fork(2, 5)})  # fmt: skip

    def test_of_several_that_share_as_much_the_first_is_meant(self):
        early = [(0, "0.1"), (2, "0.01")]
        self.assertEqual(forks([way(5, lr=[(0, "0.1")]), way(6, lr=[(0, "0.1"), (8, "0.2")]), way(7, lr=early)])[7], Fork(5, 2))

    def test_trees_of_any_trials_are_those_that_a_look_at_each_step_gives(self):
        seed = random.randrange(2**32)
        draw = random.Random(seed)
        for _ in range(200):
            ways = [drawn(trial, draw) for trial in range(1, 9)]
            expected = {}
            for index, each in enumerate(ways):
                most = max((shared(each, other) for other in ways[:index]), default=0)
                if most:
                    expected[each.trial] = Fork(next(other.trial for other in ways[:index] if shared(each, other) == most), most)
            self.assertEqual(forks(ways), expected, f"seed {seed}: {ways}")


if __name__ == "__main__":
    unittest.main()
