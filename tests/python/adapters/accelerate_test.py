"""espalier.accelerate: a script with accelerate's Accelerator can be cut anywhere."""

import unittest

import accelerate
import accelerated
import adapting
import torch
from cuts import Trial
from lit import StillPoints
from small import Tied
from torch.utils.data import DataLoader

import espalier as es
from espalier import loaders
from espalier.accelerate import Accelerator

CHANGES = {2: {"bs": 5, "lr": 0.02}, 4: {"bs": 16}}


class AccelerateTest(adapting.AdaptersTest):
    def test_pieces_are_the_straight_training_with_learning_rates_and_batch_sizes_that_change_in_mid_epoch(self):
        self.check("accelerated.py:main", Trial(changes=CHANGES))

    def test_gradients_that_are_accumulated_can_be_cut_and_the_number_of_loader_workers_changes_nothing(self):
        trained = [self.check("accelerated.py:main", Trial({"accumulate": 2, "workers": workers}, CHANGES)) for workers in (0, 2)]
        self.assertEqual(trained[0][::2], trained[1][::2])  # the state knows the number of workers

    def test_a_loader_that_is_built_again_in_mid_epoch_goes_on_where_the_other_was(self):
        rebuilt = self.check("accelerated.py:main", Trial({"mistake": "rebuilt loader"}, CHANGES))
        self.assertEqual(rebuilt[0], self.straight(self.pair("accelerated.py:main")[0], Trial(changes=CHANGES))[0])

    def test_values_that_change_exactly_where_it_is_cut_hold_in_the_next_step(self):
        changes = {2: {"lr": 0.02, "bs": 5}, 3: {"lr": 0.01}}
        metrics, _, _ = self.check("accelerated.py:main", Trial(changes=changes), (2, 3))
        self.assertEqual([each["lr"] for each in metrics], [0.05, 0.05, 0.02, 0.01, 0.01])

    def test_persistent_workers_do_not_draw_on_from_epoch_to_epoch(self):
        trained = [self.check("accelerated.py:main", Trial({"mistake": "persistent workers", "workers": workers}, updates=None, steps=3), (1, 2))
                   for workers in (0, 2)]  # fmt: skip
        self.assertEqual(trained[0][::2], trained[1][::2])

    def test_a_scheduler_of_updates_can_be_cut(self):
        metrics, _, _ = self.check("accelerated.py:scheduled", Trial({"accumulate": 3}, {2: {"bs": 5}}, updates=None, steps=4), (1, 2))
        self.assertEqual(len({each["lr"] for each in metrics}), 4)

    def test_random_trials_can_be_cut_at_random(self):
        initial, sizes = {"accumulate": [1, 2, 3], "workers": [0, 2], "seed": [1, 2]}, {"bs": [4, 6, 16]}
        self.check_random("accelerated.py:main", initial, {**sizes, "lr": [0.1, 0.01, 1e-4]})
        self.check_random("accelerated.py:scheduled", initial, sizes)

    def test_a_state_without_any_one_of_its_parts_makes_another_training(self):
        parts = ["Python's generator", "NumPy's generator", "PyTorch's generator", "data position", "optimizer state", "buffers"]
        self.check_that_nothing_can_be_forgotten("accelerated.py:main", Trial(changes={2: {"bs": 5}, 3: {"lr": 0.02}}), parts)

    def test_data_that_training_changes_is_state_and_holds_from_the_next_batch_also_with_loader_workers(self):
        trained = [self.check("accelerated.py:main", Trial({"mistake": "data changed by training", "workers": workers})) for workers in (0, 2)]
        self.assertEqual(trained[0][::2], trained[1][::2])

    def test_data_that_reading_changes_is_refused_by_its_name(self):
        for mistake, message in [("own generator", "OwnGenerator.rng: what a generator of the data set's own draws"),
                                 ("global generator in data", "mistaken_data.AT_THE_TOP: training draws"),
                                 ("data that changes itself", "ChangingItself.points is changed in place while samples are read")]:  # fmt: skip
            for workers in (0, 2):
                with self.subTest(mistake, workers=workers):
                    self.fails_with("accelerated.py:main", Trial({"mistake": mistake, "workers": workers}), message)

    def test_a_package_that_is_imported_late_is_refused_by_its_name(self):
        self.refuses_late_imports("accelerated.py:main")

    def test_what_could_not_be_exact_is_refused_by_its_name(self):
        for mistake, message in [("mixed precision", "mixed_precision='bf16'"), ("epochs do not end updates", "sync_with_dataloader=False"),
                                 ("load_state", "Accelerator.load_state.*: a training goes on by itself"),
                                 ("untracked optimizer", "nothing that is tracked takes the hyper-parameter lr"),
                                 ("global generator", "accelerated.AT_THE_TOP: training draws"),
                                 ("scheduler", "scheduler: a scheduler writes lr")]:  # fmt: skip
            with self.subTest(mistake):
                self.fails_with("accelerated.py:main", Trial({"mistake": mistake}), message)

    def test_what_is_no_part_of_the_state_is_said_once(self):
        self.straight(self.pair("accelerated.py:scheduled")[0], Trial({"mistake": "untracked optimizer"}, steps=2))
        said = self.said("accelerated.py:scheduled")
        for expected in ["optimizer (AcceleratedOptimizer) is not tracked", "seen of main() changes in a step", "Accelerator.save_state(): without effect"]:
            self.assertEqual(said.count(expected), 1, said)


class SameBitsTest(unittest.TestCase):
    def test_what_is_trained_is_what_accelerate_itself_trains(self):
        for accumulate in (1, 4):
            with self.subTest(accumulate=accumulate):
                theirs, ours = (self.trained(make, accumulate) for make in (accelerate.Accelerator, Accelerator))
                self.assertEqual([name for name in theirs if not torch.equal(theirs[name], ours[name])], [])

    def trained(self, make, accumulate):
        torch.manual_seed(1)
        loaders.begin()
        accelerator = make(gradient_accumulation_steps=accumulate, cpu=True)
        model = Tied(dropout=0.0)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, DataLoader(StillPoints(), batch_size=7), scheduler)
        for _ in range(3):
            for points, labels in loader:
                accelerated.update(accelerator, model, optimizer, scheduler, points, labels)
        return model.state_dict()
