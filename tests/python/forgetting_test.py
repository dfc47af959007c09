"""Whether the tests of law 1 would see it, if something were left out of a state."""

import itertools

from cuts import CutsTest, Trial

TRIAL = Trial(changes={2: {"bs": 5}, 3: {"lr": 0.02}})


class ForgettingTest(CutsTest):
    workers_are_copies = True

    def is_same_when_cut(self, forgotten):
        workers = [self.worker("forgetful.py:Forgetful", {"FORGET": forgotten}) for _ in range(2)]
        straight = self.straight(workers[0], TRIAL)
        try:
            return self.cut(itertools.cycle(workers), TRIAL, (1, 4)) == straight
        except AssertionError:  # one evaluation changed the next
            return False

    def test_a_state_without_any_one_of_its_parts_makes_another_training(self):
        self.assertTrue(self.is_same_when_cut("nothing"))
        for part in ["parameters", "buffers", "optimizer state", "data position", "counter"]:
            with self.subTest(part):
                self.assertFalse(self.is_same_when_cut(part))

    def test_a_generator_that_is_not_put_back_makes_another_training(self):
        for part in ["Python's generator", "NumPy's generator", "PyTorch's generator"]:
            with self.subTest(part):
                self.assertFalse(self.is_same_when_cut(part))

    def test_what_is_not_put_back_after_an_evaluation_makes_another_training(self):
        for part in ["modes", "generators in evaluations"]:
            with self.subTest(part):
                self.assertFalse(self.is_same_when_cut(part))
