"""The examples of docs/python_trainers.md, led as a node manager does, and cut."""

import itertools
import pathlib
import re

from cuts import CutsTest, Trial

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "pytorch"


class ExamplesTest(CutsTest):
    workers_are_copies = True

    def check(self, trainer, trial):
        workers = [self.worker(EXAMPLES / trainer) for _ in range(2)]
        straight = self.straight(workers[0], trial)
        self.assertGreater(straight[2]["test_acc"], 0.8)
        self.assertEqual(self.cut(itertools.cycle(workers), trial, (1, 2)), straight)

    def test_the_tutorial_shows_the_lines_that_are_there(self):
        page = (EXAMPLES.parents[1] / "docs" / "python_trainers.md").read_text()
        examples = "".join(path.read_text() for path in EXAMPLES.glob("*.py")).splitlines()
        added = re.findall(r"^\+(.*)$", page, re.MULTILINE)
        removed = re.findall(r"^-(?! )(.*)|^-(    .*)$", page, re.MULTILINE)
        self.assertGreater(len(added), 20)
        self.assertEqual([line for line in added if line not in examples], [])
        self.assertEqual([line for pair in removed for line in pair if line and line in examples], [])

    def test_the_convolutional_network_in_the_loop_form_learns_and_can_be_cut(self):
        self.check("digits_cnn.py:main", Trial(changes={2: {"lr": 0.01, "bs": 32}}, updates=25, steps=4))

    def test_the_linear_layers_in_the_class_form_learn_and_can_be_cut(self):
        self.check("digits_mlp.py:Digits", Trial(changes={2: {"bs": 64}}, updates=None, steps=3))
