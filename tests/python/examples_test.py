"""The examples of docs/python_trainers.md, led as a node manager does, and cut."""

import itertools
import pathlib

from cuts import CutsTest, Trial

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "pytorch"


class ExamplesTest(CutsTest):
    def check(self, trainer, trial):
        workers = [self.worker(EXAMPLES / trainer) for _ in range(2)]
        straight = self.straight(workers[0], trial)
        self.assertGreater(straight[2]["test_acc"], 0.8)
        self.assertEqual(self.cut(itertools.cycle(workers), trial, (1, 2)), straight)

    def test_the_convolutional_network_in_the_loop_form_learns_and_can_be_cut(self):
        self.check("digits_cnn.py:main", Trial(changes={2: {"lr": 0.01, "bs": 32}}, updates=25, steps=4))

    def test_the_linear_layers_in_the_class_form_learn_and_can_be_cut(self):
        self.check("digits_mlp.py:Digits", Trial(changes={2: {"bs": 64}}, updates=None, steps=3))
