"""Grids and spaces: which trials they have."""

import random
import re
import unittest

import espalier as es
from espalier.sequences.spaces import sequences_of


class SpacesTest(unittest.TestCase):
    def test_a_grid_has_every_combination_and_its_last_list_varies_fastest(self):
        grid = es.Grid({"lr": [0.1, es.Exponential(0.1, 0.95)], "momentum": 0.9, "bs": [32, 64]})
        self.assertEqual([(str(trial["lr"]), trial["bs"], trial["momentum"]) for trial in grid],
                         [("0.1", 32, 0.9), ("0.1", 64, 0.9), ("Exponential(0.1, 0.95)", 32, 0.9), ("Exponential(0.1, 0.95)", 64, 0.9)])  # fmt: skip
        self.assertEqual(len(grid), 4)
        self.assertEqual(eval(repr(grid), {"es": es}).written(), grid.written())
        self.assertEqual(len(es.Grid({"lr": 0.1})), 1)
        self.assertEqual(len(es.Grid({})), 1)

    def test_a_text_that_looks_like_a_call_is_one_and_any_other_is_a_text(self):
        grid = es.Grid({"lr": ["Exponential(0.1, 0.95)", 0.1], "optimizer": ["sgd", "adam"], "amp": True})
        self.assertEqual(sequences_of(grid[0]), {"lr": "Exponential(0.1, 0.95)", "optimizer": '"sgd"', "amp": "true"})

    def test_a_grid_tries_what_conditions_make_alike_once_and_leaves_out_what_they_exclude(self):
        only_if = {"momentum": "optimizer == sgd", "warm": "momentum != 0.5 and optimizer == \"sgd\""}
        grid = es.Grid({"optimizer": ["sgd", "adam"], "momentum": [0.5, 0.9], "warm": True}, only_if=only_if)
        self.assertEqual(list(grid), [{"optimizer": "sgd", "momentum": 0.5}, {"optimizer": "sgd", "momentum": 0.9, "warm": True},
                                      {"optimizer": "adam"}])  # fmt: skip
        self.assertEqual((len(grid), grid[2]), (3, {"optimizer": "adam"}))
        self.assertEqual(grid.only_if.written(), {"momentum": 'optimizer == "sgd"', "warm": 'momentum != 0.5 and optimizer == "sgd"'})
        self.assertEqual(list(eval(repr(grid), {"es": es})), list(grid))
        self.assertNotIn({"optimizer": "adam", "momentum": 0.9, "warm": True}, grid.some())

    def test_what_is_drawn_from_a_space_keeps_its_conditions(self):
        space = es.Space({"optimizer": ["sgd", "adam"], "momentum": es.uniform(0, 1)}, only_if={"momentum": "optimizer == sgd"})
        seed = random.randrange(2**32)
        generator = random.Random(seed)
        drawn = [space.sample(generator) for _ in range(50)]
        self.assertEqual({("momentum" in trial) == (trial["optimizer"] == "sgd") for trial in drawn}, {True}, f"seed {seed}")
        self.assertEqual(eval(repr(space), {"es": es}).only_if.written(), space.only_if.written())

    def test_a_mistake_in_a_condition_names_it(self):
        for only_if, message in [
            ("momentum", "only_if: expected a dict of names to conditions"),
            ({"momentun": "optimizer == sgd"}, "only_if.momentun: hyper_parameters has no 'momentun'; expected one of: optimizer, momentum"),
            ({"momentum": "optimiser == sgd"}, "only_if.momentum: hyper_parameters has no 'optimiser'"),
            ({"momentum": "optimizer == lion"}, 'only_if.momentum: optimizer is never "lion"; expected one of: "sgd", "adam"'),
            ({"momentum": "optimizer = sgd"}, "only_if.momentum: got optimizer = sgd; expected NAME == VALUE"),
            ({"momentum": 3}, "only_if.momentum: got 3; expected NAME == VALUE"),
        ]:  # fmt: skip
            for kind, values in [(es.Grid, {"momentum": [0.5, 0.9]}), (es.Space, {"momentum": es.uniform(0, 1)})]:
                with self.subTest(message, kind=kind), self.assertRaisesRegex(es.InvalidArgument, re.escape(message)):
                    kind({"optimizer": ["sgd", "adam"], **values}, only_if=only_if)

    def test_a_filter_keeps_the_grids_order(self):
        grid = es.Grid({"lr": [0.1, 0.01], "bs": [32, 64]})
        self.assertEqual([(t["lr"], t["bs"]) for t in grid.where(lambda t: t["lr"] * t["bs"] > 0.5)], [(0.1, 32), (0.1, 64), (0.01, 64)])

    def test_a_space_draws_each_range_within_its_bounds_and_the_same_of_one_seed(self):
        space = es.Space({
            "lr": es.Exponential(es.loguniform(1e-3, 1), es.uniform(0.9, 1)),
            "depth": es.integer(2, 4),
            "bs": [32, "MultiStep(32, [40], 2)"],
            "optimizer": es.choice("sgd", "adam"),
            "momentum": 0.9,
        })  # fmt: skip
        seed = random.randrange(2**32)
        first, again = ([space.sample(draw) for _ in range(200)] for draw in (random.Random(seed), random.Random(seed)))
        self.assertEqual(first, again, f"seed {seed}")
        for trial in first:
            self.assertTrue(1e-3 <= trial["lr"].init <= 1 and 0.9 <= trial["lr"].gamma <= 1, f"seed {seed}: {trial}")
            self.assertIn(trial["depth"], (2, 3, 4))
            self.assertEqual(sequences_of(trial)["momentum"], "0.9")
        self.assertEqual({str(trial["bs"]) for trial in first}, {"32", "MultiStep(32, [40], 2)"}, f"seed {seed}")
        self.assertEqual({trial["depth"] for trial in first}, {2, 3, 4}, f"seed {seed}")
        self.assertEqual(eval(repr(space), {"es": es}).written(), space.written())

    def test_mistakes_name_the_hyper_parameter(self):
        for make, field in [
            (lambda: es.Grid({"lr": []}), "hyper_parameters.lr"),
            (lambda: es.Grid({"lr": [0.1, es.uniform(0, 1)]}), "hyper_parameters.lr[1]"),
            (lambda: es.Grid({"lr": [0.1, "MultiStep(0.1, [2, 1], 0.1)"]}), "hyper_parameters.lr[1]"),
            (lambda: es.Grid({"lr": object()}), "hyper_parameters.lr"),
            (lambda: es.Grid({3: 0.1}), "hyper_parameters"),
            (lambda: es.Grid(["lr"]), "hyper_parameters"),
            (lambda: es.Space({"lr": [0.1, es.uniform(0, 1)]}), "hyper_parameters.lr[1]"),
            (lambda: sequences_of({"lr": es.uniform(0, 1)}), "hyper_parameters.lr"),
        ]:
            with self.subTest(field), self.assertRaises(es.InvalidArgument) as raised:
                make()
            self.assertEqual(raised.exception.field, field)
            self.assertIn(field, str(raised.exception))


if __name__ == "__main__":
    unittest.main()
