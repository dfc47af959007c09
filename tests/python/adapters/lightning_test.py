"""espalier.lightning: a LightningModule is trained as Lightning trains it, and can be cut anywhere."""

import functools
import logging
import pathlib
import unittest

import adapting
import lightning
import lit
import mistakes
import torch
from cuts import Trial

import espalier as es
from espalier.failure import TrainerError
from espalier.trainer import StepMeaning
from espalier.training import Training
from espalier.worker import trainer_in

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "lightning"

CHANGES = {2: {"bs": 5, "lr": 0.02}, 4: {"bs": 16}}


class LightningTest(adapting.AdaptersTest):
    def test_pieces_are_the_straight_training_with_learning_rates_and_batch_sizes_that_change_in_mid_epoch(self):
        self.check("lit.py:Any", Trial(changes=CHANGES))

    def test_values_that_change_exactly_where_it_is_cut_hold_in_the_next_step(self):
        changes = {2: {"lr": 0.02, "bs": 5}, 3: {"lr": 0.01}}
        metrics, _, _ = self.check("lit.py:Any", Trial(changes=changes), (2, 3))
        others = self.straight(self.pair("lit.py:Any")[0], Trial(changes={3: {"lr": 0.01}}))[0]
        self.assertEqual(metrics[:2], others[:2])
        self.assertNotEqual(metrics[2], others[2])

    def test_a_process_that_has_trained_goes_on_without_init_and_where_it_stands_without_load(self):
        for trainer, values, changes in [("lit.py:Any", {}, CHANGES), ("lit.py:AtFixedRate", {"kind": "Scheduled"}, {2: {"bs": 5}}),
                                         ("lit.py:AtFixedRate", {"kind": "ByHand"}, {2: {"bs": 5}}),
                                         ("mistakes.py:Trainer", {"mistake": "untracked things"}, CHANGES)]:  # fmt: skip
            with self.subTest(trainer, **values):
                self.check_sooner(trainer, Trial(values, changes))

    def test_the_number_of_loader_workers_changes_nothing(self):
        with_none = self.straight(self.pair("lit.py:Any")[0], Trial(changes=CHANGES))
        with_two = self.check("lit.py:Any", Trial({"workers": 2}, CHANGES), pieces=(1, 3))
        self.assertEqual(with_two[0], with_none[0])

    def test_steps_that_are_epochs_can_be_cut(self):
        self.check("lit.py:Any", Trial(changes={1: {"bs": 7}}, updates=None, steps=3), pieces=(1, 2))

    def test_accumulated_gradients_clipping_and_schedulers_can_be_cut(self):
        self.check("lit.py:AtFixedRate", Trial({"kind": "Scheduled"}, {2: {"bs": 5}}))

    def test_manual_optimization_with_two_optimizers_can_be_cut(self):
        self.check("lit.py:AtFixedRate", Trial({"kind": "ByHand"}, {2: {"bs": 5}}))

    def test_random_trials_can_be_cut_at_random(self):
        sequences = {"bs": [4, 6, 16], "lr": [0.1, 0.01, 1e-4]}
        self.check_random("lit.py:Any", {"kind": ["Net"], "optimizer": ["Adam", "RMSprop", "NAdam"], "workers": [0, 2], "seed": [1, 2]}, sequences)
        self.check_random("lit.py:AtFixedRate", {"kind": ["Scheduled", "ByHand"], "workers": [0, 2]}, {"bs": [4, 6, 16]})

    def test_a_state_without_any_one_of_its_parts_makes_another_training(self):
        parts = ["Python's generator", "NumPy's generator", "PyTorch's generator", "data position", "optimizer state", "buffers", "counters"]
        self.check_that_nothing_can_be_forgotten("lit.py:Any", Trial(changes={2: {"bs": 5}, 3: {"lr": 0.02}}), parts)


class MistakesTest(adapting.AdaptersTest):
    """docs/adapters.md has them in a table."""

    def fails(self, mistake, message, **values):
        with self.subTest(mistake, **values):
            self.fails_with("mistakes.py:Trainer", Trial({"mistake": mistake, **values}), message)

    def test_things_that_nobody_tracks_are_state(self):
        self.check("mistakes.py:Trainer", Trial({"mistake": "untracked things"}))

    def test_data_that_training_changes_is_state_and_holds_from_the_next_batch_also_with_loader_workers(self):
        trained = [self.check("mistakes.py:Trainer", Trial({"mistake": "data changed by training", "workers": workers}, updates=2))
                   for workers in (0, 2)]  # fmt: skip
        self.assertEqual(trained[0][::2], trained[1][::2])  # the state knows the number of workers

    def test_a_loader_that_is_built_again_in_mid_epoch_leaves_the_one_that_is_read_alone(self):
        rebuilt = self.check("mistakes.py:Trainer", Trial({"mistake": "rebuilt loader"}, CHANGES))
        samples = [step["samples"] for step in self.straight(self.pair("mistakes.py:Trainer")[0], Trial(changes=CHANGES))[0]]
        self.assertEqual([step["samples"] for step in rebuilt[0]], samples)

    def test_persistent_workers_do_not_draw_on_from_epoch_to_epoch(self):
        trained = [self.check("mistakes.py:Trainer", Trial({"mistake": "persistent workers", "workers": workers}, updates=None, steps=3), (1, 2))
                   for workers in (0, 2)]  # fmt: skip
        self.assertEqual(trained[0][::2], trained[1][::2])

    def test_a_sampler_of_ones_own_can_be_cut(self):
        self.check("mistakes.py:Trainer", Trial({"mistake": "own sampler"}, {2: {"bs": 5}}))

    def test_draws_from_a_generator_that_no_state_holds_are_refused_by_its_name(self):
        self.fails("global generator", "mistakes.AT_THE_TOP: training draws")
        for workers in (0, 2):
            self.fails("global generator in data", "mistaken_data.AT_THE_TOP: training draws", workers=workers)
            self.fails("own generator", "OwnGenerator.rng: what a generator of the data set's own draws", workers=workers)

    def test_data_that_is_changed_by_reading_it_is_refused_by_its_name(self):
        for workers in (0, 2):
            self.fails("data that changes itself", "ChangingItself.points is changed in place while samples are read", workers=workers)

    def test_a_package_that_is_imported_late_is_refused_by_its_name(self):
        self.refuses_late_imports("mistakes.py:Trainer")

    def test_what_could_not_be_exact_is_refused_by_its_name(self):
        for mistake, message in [("iterable", "Endless is an iterable data set"), ("batch sampler", "Batches makes batches of its own"),
                                 ("worker_init_fn", "worker_init_fn is not called"), ("two loaders", "train_dataloader.* gave list"),
                                 ("max_epochs", "trainer.max_epochs: how long is trained is up to the study"),
                                 ("skipped epoch", "on_train_batch_start.* returned -1"), ("scheduler", "a scheduler writes lr")]:  # fmt: skip
            self.fails(mistake, message)

    def test_a_scheduler_that_waits_for_a_validation_is_refused(self):
        trainer = es.lightning.trainer(lambda: mistakes.Mistaken("plateau", 0.05), lit.Data, hyper_parameters={})
        training = Training(trainer(StepMeaning(None)), {}, [])
        training.init({"seed": 0})
        training.setup({})
        with self.assertRaisesRegex(TrainerError, "ReduceLROnPlateau monitors 'val_loss', which training has not logged"):
            training.train()

    def test_what_is_up_to_the_study_is_ignored_and_said_once(self):
        for mistake in ("should_stop", "data that counts", ""):
            self.straight(self.pair("mistakes.py:Trainer")[0], Trial({"mistake": mistake}, steps=2))
        said = self.said("mistakes.py:Trainer")
        for expected in ["max_epochs, EarlyStopping, ModelCheckpoint: without effect here", "trainer.should_stop: without effect here",
                         "Counting.reads changes while samples are read"]:  # fmt: skip
            self.assertEqual(said.count(expected), 1, said)


class DeclarationTest(unittest.TestCase):
    def declare(self, module=lit.Net, hyper_parameters=None, **arguments):
        return es.lightning.trainer(module, lit.Data, hyper_parameters=hyper_parameters or {}, **arguments)

    def test_what_has_no_counterpart_is_refused_by_its_name(self):
        for arguments, message in [({"precision": "bf16-mixed"}, "precision='bf16-mixed' has no counterpart"),
                                   ({"limit_train_batches": 3}, "limit_train_batches=3"), ({"strategy": "ddp"}, "strategy='ddp'"),
                                   ({"max_epoch": 3}, "max_epoch: neither .* nor L.Trainer"),
                                   ({"callbacks": [lightning.pytorch.callbacks.StochasticWeightAveraging(0.1)]}, "StochasticWeightAveraging"),
                                   ({"hyper_parameters": {"lrr": es.sequence(float, default=0.1)}}, "hyper-parameter lrr")]:  # fmt: skip
            with self.assertRaisesRegex(TrainerError, message):
                self.declare(**arguments)

    def test_lightnings_defaults_and_what_changes_no_bits_are_taken(self):
        self.declare(precision="32-true", devices=1, logger=False, num_nodes=1, enable_progress_bar=False, deterministic=True)

    def test_a_trainer_says_that_it_can_reload_if_it_is_told_to(self):
        self.assertEqual([self.declare().reload, self.declare(reload=True).reload], [False, True])

    def test_a_trainer_is_named_as_its_variable_and_lies_in_the_file_that_declares_it(self):
        trainer = trainer_in(f"{EXAMPLE / 'train.py'}:Digits")
        self.assertEqual((trainer.__name__, trainer.__module__), ("Digits", "train"))

    def test_the_page_shows_the_example_as_it_is(self):
        shown = (EXAMPLE.parents[1] / "docs" / "adapters.md").read_text()
        _, _, example = (EXAMPLE / "train.py").read_text().partition("\n\n")
        self.assertIn(example, shown)

    def test_a_sequence_that_nothing_takes_is_refused_when_it_is_set_up(self):
        trainer = self.declare(hyper_parameters={"smoothing": es.sequence(float, default=0.0)})
        training = Training(trainer(StepMeaning(1)), {}, ["smoothing"])
        training.init({"seed": 0, "smoothing": 0.0})
        with self.assertRaisesRegex(TrainerError, "nothing takes the hyper-parameter smoothing while it changes"):
            training.setup({"smoothing": 0.0})

    def test_a_function_sets_what_nothing_else_takes(self):
        told = {}
        trainer = self.declare(hyper_parameters={"smoothing": es.sequence(float, default=0.0), "gradient_clip_val": es.sequence(float, default=1.0),
                                                 "lr": es.sequence(float, default=0.1)}, setup=lambda _, changed: told.update(changed))  # fmt: skip
        training = Training(trainer(StepMeaning(1)), {}, ["smoothing", "gradient_clip_val", "lr"])
        training.init({"seed": 0, "smoothing": 0.0, "gradient_clip_val": 1.0, "lr": 0.1})
        training.setup({"smoothing": 0.5, "gradient_clip_val": 0.5, "lr": 0.2})
        module = training._trainer.module
        self.assertEqual(told, {"smoothing": 0.5})
        self.assertEqual((module.hparams.smoothing, module.trainer.gradient_clip_val, module.trainer.optimizers[0].param_groups[0]["lr"]),
                         (0.5, 0.5, 0.2))  # fmt: skip


def trained_by_lightning(kind, arguments, epochs, wrap=lambda module: module):
    """The parameters, after so many epochs over data in their order, by Lightning's own Trainer."""
    torch.manual_seed(0)
    module = wrap(KINDS[kind](lr=0.05, dropout=0.0))
    quiet = {"logger": False, "enable_progress_bar": False, "enable_checkpointing": False, "enable_model_summary": False,
             "limit_val_batches": 0, "accelerator": "cpu"}  # fmt: skip
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    lightning.Trainer(max_epochs=epochs, **quiet, **arguments).fit(module, datamodule=lit.StillData())
    return module.state_dict(), module.global_step, metrics_of(module)


def metrics_of(module):
    return {name: float(value) for name, value in module.trainer.callback_metrics.items()}


def trained_here(kind, arguments, epochs, wrap=lambda module: module):
    make = lambda: wrap(KINDS[kind](lr=0.05, dropout=0.0))  # noqa: E731
    trainer = es.lightning.trainer(make, lambda: lit.StillData(), hyper_parameters={}, **arguments)
    training = Training(trainer(StepMeaning(None)), {}, [])
    training.init({"seed": 0})
    training.setup({})
    for _ in range(epochs):
        training.train()
    module = training._trainer.module
    return module.state_dict(), module.global_step, metrics_of(module)


KINDS = {**lit.KINDS, "LBFGS": functools.partial(lit.Net, optimizer="LBFGS")}  # which wants its closure several times
HOOKS = ["on_train_start", "on_train_epoch_start", "on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer",
         "on_train_batch_start", "training_step", "on_before_zero_grad", "optimizer_zero_grad", "on_before_backward", "backward",
         "on_after_backward", "on_before_optimizer_step", "configure_gradient_clipping", "clip_gradients", "optimizer_step", "lr_scheduler_step",
         "on_train_batch_end", "on_train_epoch_end"]  # fmt: skip


def recording(module, calls):
    """The module, which appends to `calls` which hook is called when."""

    def recorded(name, hook):
        @functools.wraps(hook)
        def call(*arguments, **named):
            calls.append((name, module.current_epoch, module.global_step))
            return hook(*arguments, **named)

        return call

    for name in HOOKS:
        setattr(module, name, recorded(name, getattr(module, name)))
    return module


class SameBitsTest(unittest.TestCase):
    def test_hooks_are_called_in_lightnings_order(self):
        for kind, arguments in [("Scheduled", {"accumulate_grad_batches": 4, "gradient_clip_val": 0.1}), ("ByHand", {})]:
            with self.subTest(kind):
                calls = [], []
                for train, each in zip((trained_by_lightning, trained_here), calls):
                    train(kind, arguments, 2, lambda module: recording(module, each))
                self.assertGreater(len(calls[0]), 100)
                self.assertEqual(calls[1], calls[0])

    def test_what_is_trained_is_what_lightnings_own_trainer_trains(self):
        for kind, arguments in [("Net", {}), ("Net", {"accumulate_grad_batches": 2}), ("Scheduled", {"gradient_clip_val": 0.1}),
                                ("Scheduled", {"accumulate_grad_batches": 4}), ("ByHand", {}), ("LBFGS", {})]:  # fmt: skip
            with self.subTest(kind, **arguments):
                theirs, *others = trained_by_lightning(kind, arguments, 4)
                ours, *our_others = trained_here(kind, arguments, 4)
                self.assertEqual(our_others, others)
                self.assertEqual([name for name in theirs if not torch.equal(theirs[name], ours[name])], [])
