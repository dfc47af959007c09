"""espalier.transformers: a transformers.Trainer is trained as it trains itself, and can be cut anywhere."""

import tempfile
import unittest

import adapting
import texts
import torch
import transformers
from cuts import Trial

import espalier as es
from espalier.trainer import StepMeaning
from espalier.training import Training

CHANGES = {2: {"per_device_train_batch_size": 3, "learning_rate": 0.002}, 3: {"weight_decay": 0.1}, 4: {"per_device_train_batch_size": 16}}


class TransformersTest(adapting.AdaptersTest):
    def test_pieces_are_the_straight_training_with_learning_rates_and_batch_sizes_that_change_in_mid_epoch(self):
        self.check("texts.py:texts", Trial(changes=CHANGES))

    def test_gradients_that_are_accumulated_can_be_cut_and_the_number_of_loader_workers_changes_nothing(self):
        trained = [self.check("texts.py:texts", Trial({"gradient_accumulation_steps": 3, "workers": workers}, CHANGES)) for workers in (0, 2)]
        self.assertEqual(trained[0][::2], trained[1][::2])  # the state knows the number of workers

    def test_a_scheduler_can_be_cut_in_steps_that_are_epochs(self):
        metrics, _, _ = self.check("texts.py:scheduled", Trial(updates=None, steps=4), (1, 2))
        self.assertEqual(len({each["learning_rate"] for each in metrics}), 4)

    def test_random_trials_can_be_cut_at_random(self):
        initial = {"gradient_accumulation_steps": [1, 2, 3], "workers": [0, 2], "seed": [1, 2]}
        self.check_random("texts.py:scheduled", initial, {})
        sequences = {"learning_rate": [0.1, 0.01, 1e-4], "per_device_train_batch_size": [2, 5, 16], "max_grad_norm": [0.0, 0.1, 1.0]}
        self.check_random("texts.py:texts", initial, {**sequences, "weight_decay": [0.1, 0.5]})

    def test_a_state_without_any_one_of_its_parts_makes_another_training(self):
        parts = ["Python's generator", "NumPy's generator", "PyTorch's generator", "data position", "optimizer state", "counters"]
        self.check_that_nothing_can_be_forgotten("texts.py:texts", Trial(changes=CHANGES), parts)

    def test_a_process_that_has_trained_goes_on_without_init_and_where_it_stands_without_load(self):
        self.check_sooner("texts.py:texts", Trial(changes=CHANGES))
        self.check_sooner("texts.py:texts", Trial({"mistake": "untracked optimizer", "workers": 2}, CHANGES))
        self.check_sooner("texts.py:scheduled", Trial(steps=5))

    def test_a_trainer_says_that_it_can_reload_if_it_is_told_to(self):
        for named, expected in [({}, False), ({"reload": True}, True)]:
            self.assertEqual(es.transformers.trainer(**named)(lambda hp: None).espalier_trainer.reload, expected)

    def test_an_optimizer_that_nobody_tracks_is_state(self):
        metrics = [self.check("texts.py:texts", Trial({"mistake": mistake}, CHANGES))[0] for mistake in ("untracked optimizer", "")]
        self.assertNotEqual(*metrics)

    def test_a_loader_that_is_built_again_in_mid_epoch_leaves_the_one_that_is_read_alone(self):
        samples = [[step["samples"] for step in self.check("texts.py:texts", Trial({"mistake": mistake}, CHANGES))[0]]
                   for mistake in ("rebuilt loader", "")]  # fmt: skip
        self.assertEqual(*samples)

    def test_persistent_workers_do_not_draw_on_from_epoch_to_epoch(self):
        trained = [self.check("texts.py:texts", Trial({"mistake": "persistent workers", "workers": workers}, updates=None, steps=3), (1, 2))
                   for workers in (0, 2)]  # fmt: skip
        self.assertEqual(trained[0][::2], trained[1][::2])

    def test_data_that_training_changes_is_state_and_holds_from_the_next_batch_also_with_loader_workers(self):
        trained = [self.check("texts.py:texts", Trial({"mistake": "data changed by training", "workers": workers})) for workers in (0, 2)]
        self.assertEqual(trained[0][::2], trained[1][::2])

    def test_data_that_reading_changes_is_refused_by_its_name(self):
        for mistake, message in [("own generator", "OwnGenerator.generator: what a generator of the data set's own draws"),
                                 ("data that changes itself", "ChangingItself.tokens is changed in place while samples are read")]:  # fmt: skip
            for workers in (0, 2):
                with self.subTest(mistake, workers=workers):
                    self.fails_with("texts.py:texts", Trial({"mistake": mistake, "workers": workers}), message)

    def test_a_package_that_is_imported_late_is_refused_by_its_name(self):
        self.refuses_late_imports("texts.py:texts")

    def test_what_could_not_be_exact_is_refused_by_its_name(self):
        for mistake, message in [("precision", "TrainingArguments.bf16=True. has no counterpart"), ("scheduler", "a scheduler writes the learning rate"),
                                 ("iterable", "Stream is an iterable data set"), ("callback", "callbacks are not called, and Watching"),
                                 ("global generator", "texts.AT_THE_TOP: training draws")]:  # fmt: skip
            with self.subTest(mistake):
                self.fails_with("texts.py:texts", Trial({"mistake": mistake}), message)

    def test_what_is_up_to_the_study_is_ignored_and_said_once(self):
        for _ in range(2):
            self.straight(self.pair("texts.py:texts")[0], Trial({"mistake": "early stopping"}, steps=2))
        said = self.said("texts.py:texts")
        self.assertEqual(said.count("load_best_model_at_end, EarlyStoppingCallback: without effect here"), 1, said)
        self.assertIn("num_train_epochs", said)


class SameBitsTest(unittest.TestCase):
    def test_what_is_trained_is_what_transformers_itself_trains(self):
        for named in [{}, {"gradient_accumulation_steps": 3, "lr_scheduler_type": "cosine", "warmup_steps": 3}, {"optim": "adafactor"}]:
            with self.subTest(**named):
                theirs = self.made(**named)
                theirs.train()
                theirs = theirs.model.state_dict()
                ours = self.trained_here(**named)
                self.assertEqual([name for name in theirs if not torch.equal(theirs[name], ours[name])], [])

    def made(self, **named):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        torch.manual_seed(0)
        arguments = transformers.TrainingArguments(
            output_dir=folder.name, use_cpu=True, report_to="none", disable_tqdm=True, num_train_epochs=3, learning_rate=0.01, weight_decay=0.1,
            train_sampling_strategy="sequential", save_strategy="no", logging_strategy="no", per_device_train_batch_size=7, **named)  # fmt: skip
        return transformers.Trainer(model=texts.model(dropout=0.0), args=arguments, train_dataset=texts.Texts(is_noisy=False))

    def trained_here(self, **named):
        @es.transformers.trainer()
        def made(_):
            return self.made(**named)

        training = Training(made.espalier_trainer(StepMeaning(None)), {}, [])
        training.init({"seed": 0})
        training.setup({})
        for _ in range(3):
            training.train()
        return training._trainer.model.state_dict()
