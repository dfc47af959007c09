"""Law 1: however a training is cut, metrics and states are the same to the bit."""

import itertools

import torch
from cuts import CutsTest, Trial, begin_sooner

# The batch size changes in mid-epoch: 60 samples, of which 6 batches of 8 were taken at step 2.
CHANGES = {2: {"bs": 5, "lr": 0.02}, 4: {"bs": 16}}
OPTIMIZERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor"]


class CuttingTest(CutsTest):
    workers_are_copies = True

    def check(self, trainer, trial, pieces=(1, 3, 4), *, is_copy=True):
        """Straight in one process is cut into pieces, each in a new process."""
        straight = self.straight(self.worker(trainer, is_copy=is_copy), trial)
        new_workers = (self.worker(trainer, is_copy=is_copy) for _ in itertools.count())
        self.assertEqual(self.cut(new_workers, trial, pieces), straight)
        return straight

    def check_in_two_processes(self, workers, trial):
        """Two processes take turns, and forget what they trained before."""
        self.assertEqual(self.cut(itertools.cycle(workers), trial, (1, 2, 4)), self.straight(workers[0], trial))

    def test_pieces_in_new_processes_are_the_straight_training_with_batch_sizes_that_change_in_mid_epoch(self):
        self.check("small.py:Small", Trial(changes=CHANGES), is_copy=False)

    def test_the_number_of_loader_workers_and_how_far_they_fetch_ahead_change_nothing_in_pieces_either(self):
        with_none = self.straight(self.worker("small.py:Small"), Trial(changes=CHANGES))
        for prefetch in (1, 5):
            with_two = self.check("small.py:Small", Trial({"workers": 2, "prefetch": prefetch}, CHANGES), pieces=(1, 3))
            self.assertEqual(with_two[0], with_none[0])

    def test_a_process_that_has_trained_goes_on_without_init_and_where_it_stands_without_load(self):
        trial = Trial(changes=CHANGES)
        for trainer in ("small.py:Small", "kinds.py:Rebuilt", "kinds.py:Thawed", "kinds.py:Warmed"):
            with self.subTest(trainer):
                straight = self.straight(self.worker(trainer), trial)
                one, other = self.worker(trainer), self.worker(trainer)
                self.straight(other, trial)  # which stands at the end
                self.assertEqual(self.cut([one, other, other, one], trial, (1, 2, 4), bring=begin_sooner), straight)

    def test_steps_that_are_epochs_can_be_cut(self):
        self.check("small.py:Small", Trial(changes={1: {"bs": 7}}, updates=None, steps=3), pieces=(1, 2))

    def test_all_optimizers_can_be_cut(self):
        workers = [self.worker("small.py:Small"), self.worker("small.py:Small")]
        for optimizer in OPTIMIZERS:
            with self.subTest(optimizer):
                self.check_in_two_processes(workers, Trial({"optimizer": optimizer, "lr": 0.01}, CHANGES))

    def test_optimizers_that_want_a_closure_matrices_or_sparse_gradients_can_be_cut(self):
        for trainer in ("ByClosure", "OfMatrices", "OfSparse"):
            with self.subTest(trainer):
                workers = [self.worker(f"optimizers.py:{trainer}") for _ in range(2)]
                self.check_in_two_processes(workers, Trial({"lr": 0.01}, CHANGES))

    def test_no_optimizer_of_pytorchs_is_left_out(self):
        others = {"LBFGS", "Muon", "SparseAdam"}  # the test above
        there = {name for name, each in vars(torch.optim).items() if isinstance(each, type) and name != "Optimizer"}
        self.assertEqual(there - {*OPTIMIZERS, *others}, set())

    def test_momentum_and_weight_decay_that_change_hold_from_the_step_where_they_do_however_it_is_cut(self):
        changes = {2: {"momentum": 0.5, "weight_decay": 0.1}, 3: {"lr": 0.02}, 4: {"weight_decay": 0.0}}
        workers = [self.worker("optimizers.py:Options") for _ in range(2)]
        for optimizer in ("SGD", "RMSprop"):
            values = {"optimizer": optimizer, "lr": 0.01}
            with self.subTest(optimizer):
                straight = self.straight(workers[0], Trial(values, changes))
                for pieces in [(1, 2, 4), (2, 3, 4)]:
                    self.assertEqual(self.cut(itertools.cycle(workers), Trial(values, changes), pieces), straight)
                self.assertEqual((straight[2]["momentum"], straight[2]["weight_decay"]), (0.5, 0.0))
                kept = self.straight(workers[0], Trial(values, {3: {"lr": 0.02}}))
                losses, losses_kept = ([each["loss"] for each in trained[0]] for trained in (straight, kept))
                self.assertEqual(losses[:2], losses_kept[:2])
                self.assertNotEqual(losses[2], losses_kept[2])

    def test_a_frozen_norm_stays_frozen(self):
        workers = [self.worker("small.py:Small"), self.worker("small.py:Small")]
        self.check_in_two_processes(workers, Trial({"frozen_norm": True}, CHANGES))

    def test_a_scheduler_is_state_like_any_other_beside_two_optimizers_and_a_generator(self):
        self.check("kinds.py:TwoOptimizers", Trial(changes={2: {"bs": 5}}))

    def test_a_loader_that_is_built_again_over_the_same_data_goes_on_where_the_other_was(self):
        rebuilt = self.check("kinds.py:Rebuilt", Trial(changes=CHANGES))
        self.assertEqual(rebuilt[0], self.straight(self.worker("small.py:Small"), Trial(changes=CHANGES))[0])

    def test_a_stream_goes_on_where_it_was(self):
        self.check("kinds.py:Streamed", Trial(changes=CHANGES))

    def test_what_training_makes_of_a_hyper_parameters_value_is_not_lost(self):
        self.check("kinds.py:Warmed", Trial(changes=CHANGES), pieces=(1, 2, 3))

    def test_gradients_last_no_longer_than_a_step(self):
        workers = [self.worker("kinds.py:NeverZeroed") for _ in range(2)]
        self.check_in_two_processes(workers, Trial())

    def test_what_setup_does_to_the_data_holds_from_the_next_batch_also_with_loader_workers(self):
        workers = [self.worker("kinds.py:Shifted") for _ in range(2)]
        self.check_in_two_processes(workers, Trial(changes={2: {"shift": 0.5}, 4: {"shift": 2.0}}, updates=2))

    def test_frozen_layers_buffers_that_are_not_persistent_and_extra_state_are_state(self):
        workers = [self.worker("kinds.py:Thawed") for _ in range(2)]
        self.check_in_two_processes(workers, Trial(changes=CHANGES))

    def test_another_seed_gives_another_training(self):
        worker = self.worker("small.py:Small")
        self.assertNotEqual(self.straight(worker, Trial({"seed": 1}))[0], self.straight(worker, Trial({"seed": 2}))[0])
