"""What is made of trials before they are sent: types, sizes, cuts."""

import unittest

import espalier as es
from espalier.client.batches import PART_SEGMENTS_MAX, Batch, cut, in_whole_batch, new_trial
from espalier.client.segments import segments_at_most
from espalier.client.value_types import guessed_types


class BatchesTest(unittest.TestCase):
    def test_a_sequence_has_no_more_segments_than_its_bound(self):
        for sequence, horizon, bound in [
            (0.1, 100, 1),
            (es.Step(0.1, 30, 0.5), 100, 4),
            (es.Step(0.1, 30, 0.5), 20, 1),
            (es.MultiStep(0.1, [10, 20], 0.1), 100, 3),
            (es.MultiStep(0.1, [10, 20], 0.1), 2, 2),
            (es.Cosine(0.1, 0, 25), 100, 4),
            (es.CyclicLR(0.1, 0.2, 10, 15), 100, 8),
            (es.Table([1, 2, 3]), 100, 3),
            (es.Warmup(0.1, 5, es.Step(0.1, 50, 0.5)), 100, 3),
            (es.Piecewise([0.1, es.Cosine(0.1, 0, 50)], [10]), 100, 3),
            (es.Scale(0.5, es.Every(10, es.Exponential(0.1, 0.9))), 100, 10),
            (es.WSD(0.1, 100, 20, 10), 100, 5),
        ]:
            self.assertEqual(segments_at_most(sequence, horizon), bound, sequence)

    def test_a_batch_is_cut_where_it_is_too_large_and_nothing_is_lost_or_moved(self):
        large = new_trial({"lr": es.Step(0.1, 1, 0.9)}, 1, 2000, "trials[0]")
        small = new_trial({"lr": 0.1}, 1, None, "trials[1]")
        huge = new_trial({"lr": es.Step(0.1, 1, 0.9)}, 1, 10**6, "trials[2]")
        batch = Batch([large, small, large, large, huge, small], [(1, 5)] * 6000, [2], [3], finish=True)
        parts = cut(batch)
        self.assertEqual([len(part.new_trials) for part in parts], [3, 1, 1, 1, 0])
        for name in ("new_trials", "claims", "close", "cancel"):
            self.assertEqual([each for part in parts for each in getattr(part, name)], getattr(batch, name))
        self.assertEqual([part.finish for part in parts], [False] * 4 + [True])
        for part in parts:
            size = sum(each.segments for each in part.new_trials) + len(part.claims) + len(part.close) + len(part.cancel)
            self.assertTrue(size <= PART_SEGMENTS_MAX or len(part.new_trials) == 1)
        self.assertEqual(cut(Batch()), [Batch()])

    def test_an_error_of_a_part_counts_from_the_batchs_beginning(self):
        parts = [Batch(new_trials=[None] * 3, claims=[None] * 2), Batch(new_trials=[None] * 2)]
        for field, expected in [("trials[1].lr", "trials[4].lr"), ("claims[0]", "claims[2]"), ("study_id", "study_id"), ("", "")]:
            error = in_whole_batch(es.InvalidArgument("wrong", field), parts, 1)
            self.assertEqual((type(error), error.field, error.message), (es.InvalidArgument, expected, "wrong"))

    def test_the_types_of_what_a_trainer_does_not_declare_follow_from_what_is_written(self):
        for tried, expected in [
            ([1, 2], int), ([1, 2.0], float), ([0.1], float), (["a", "b"], str), ([True, False], bool),
            ([es.MultiStep(32, [40], 2)], int), ([es.Step(32, 10, 0.5)], float), ([es.Constant("a")], str),
            ([es.Cosine(1, 0, 5)], float), ([es.Piecewise([1, es.Table([2, 3])], [4])], int), ([1, es.Linear(1, 1)], float),
            ([es.integer(1, 4)], int), ([es.uniform(1, 4)], float), ([es.choice("a", "b")], str), ([es.Scale(2, 3)], int),
        ]:  # fmt: skip
            self.assertEqual(guessed_types({"x": tried}), {"x": expected}, tried)
        with self.assertRaises(es.InvalidArgument) as raised:
            guessed_types({"x": [1, "a"]})
        self.assertEqual(raised.exception.field, "hyper_parameters.x")
        self.assertIn("got int and str", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
