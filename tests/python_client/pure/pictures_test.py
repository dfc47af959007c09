"""What is decided of pictures before anything is drawn."""

import importlib
import math
import sys
import unittest
from types import SimpleNamespace
from unittest import mock

from espalier.client.stretches import stretches
from espalier.client.plan_layout import lay_out


def node(number, parent, start, *ends):
    stages = [SimpleNamespace(to_step=end) for end in ends]
    return SimpleNamespace(plan_node_id=number, parent_id=parent, start_step=start, stages=stages)


class PicturesTest(unittest.TestCase):
    def test_what_trials_share_is_drawn_once_and_each_parts_where_it_does(self):
        curves = {1: {1: 0.5, 2: 0.6, 3: 0.7}, 2: {1: 0.5, 2: 0.6, 3: 0.8}, 3: {1: 0.5, 2: 0.6}, 4: {1: 0.4, 2: 0.6}}
        self.assertEqual(list(stretches(curves)), [(1, [(1, 0.5), (2, 0.6), (3, 0.7)], False), (2, [(2, 0.6), (3, 0.8)], False),
                                                   (4, [(1, 0.4), (2, 0.6)], False)])  # fmt: skip

    def test_meeting_again_after_parting_is_no_sharing(self):
        self.assertEqual(list(stretches({1: {1: 0.5, 2: 0.9}, 2: {1: 0.4, 2: 0.9}}))[1], (2, [(1, 0.4), (2, 0.9)], False))

    def test_a_curve_ends_before_the_first_value_that_is_not_finite_and_says_so(self):
        found = list(stretches({1: {1: 0.5, 2: 0.6}, 2: {1: 0.5, 2: math.nan, 3: 0.7}, 3: {1: math.inf}}))
        self.assertEqual(found, [(1, [(1, 0.5), (2, 0.6)], False), (2, [(1, 0.5)], True)])

    def test_a_plan_has_one_row_for_each_way_to_the_end_and_later_branches_stand_nearer(self):
        nodes = [node(1, 0, 0, 5, 10), node(2, 1, 3, 10), node(3, 1, 6, 10), node(4, 2, 10, 20), node(5, 0, 0, 10)]
        placed = lay_out(nodes)
        self.assertEqual([(each.node.plan_node_id, each.row, each.parent and each.parent.row, each.end) for each in placed],
                         [(1, 0, None, 10), (3, 1, 0, 10), (2, 2, 0, 10), (4, 2, 2, 20), (5, 3, None, 10)])  # fmt: skip

    def test_a_long_chain_of_nodes_is_one_row(self):
        placed = lay_out(node(number, number - 1, number, number + 1) for number in range(1, 5000))
        self.assertEqual({each.row for each in placed}, {0})

    def test_without_matplotlib_a_plot_says_what_to_install(self):
        with mock.patch.dict(sys.modules, matplotlib=None):
            sys.modules.pop("espalier.client.plots", None)
            with self.assertRaisesRegex(ModuleNotFoundError, r'pip install "espalier-hpo\[plot\]"'):
                importlib.import_module("espalier.client.plots")


if __name__ == "__main__":
    unittest.main()
