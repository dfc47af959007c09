"""How much of a metric's variance goes with a hyper-parameter."""

import itertools
import random
import unittest

import espalier as es
from espalier.client.importance import importances


class ImportanceTest(unittest.TestCase):
    def test_what_decides_alone_explains_all_and_what_decides_nothing_explains_nothing(self):
        tried = [{"lr": lr, "bs": bs, "momentum": 0.9} for lr, bs in itertools.product([0.1, es.Exponential(0.1, 0.9)], [32, 64, 128])]
        metrics = [1.0 if each["lr"] == 0.1 else 2.0 for each in tried]
        self.assertEqual(importances(tried, metrics), {"lr": 1.0, "bs": 0.0})

    def test_the_greater_effect_comes_first_and_the_shares_are_those_of_the_variance(self):
        tried = [{"a": a, "b": b} for a, b in itertools.product([0, 1], [0, 1])] * 50
        found = importances(tried, [3.0 * each["a"] + each["b"] for each in tried])
        self.assertEqual(list(found), ["a", "b"])
        self.assertAlmostEqual(found["a"], 0.9, 2)  # 9 : 1
        self.assertAlmostEqual(found["b"], 0.1, 2)

    def test_chance_alone_explains_next_to_nothing_however_many_values_there_are(self):
        draw = random.Random(7)
        tried = [{"text": str(index % 100), "number": draw.random()} for index in range(400)]
        for share in importances(tried, [draw.gauss(0, 1) for _ in tried]).values():
            self.assertLess(share, 0.1)

    def test_a_number_with_many_values_is_looked_at_by_quarters(self):
        draw = random.Random(7)
        tried = [{"lr": es.Exponential(draw.random(), draw.random())} for _ in range(80)]
        found = importances(tried, [each["lr"].init for each in tried])
        self.assertEqual(set(found), {"lr.init", "lr.gamma"})  # each text is there once
        self.assertGreater(found["lr.init"], 0.9)
        self.assertLess(found["lr.gamma"], 0.2)

    def test_a_hyper_parameter_that_some_leave_out_counts_and_a_place_that_some_have_not_does_not(self):
        tried = [{"lr": 0.1}, {"lr": es.Exponential(0.1, 0.9)}, {"lr": 0.1, "momentum": 0.9}, {"lr": es.Exponential(0.1, 0.9), "momentum": 0.9}] * 2
        found = importances(tried, [1.0 if "momentum" in each else 0.0 for each in tried])
        self.assertEqual(found, {"momentum": 1.0, "lr": 0.0})

    def test_equal_metrics_are_explained_by_nothing(self):
        self.assertEqual(importances([{"lr": lr} for lr in (1, 2, 1, 2)], [0.5] * 4), {"lr": 0.0})


if __name__ == "__main__":
    unittest.main()
