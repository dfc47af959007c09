"""A transformers.Trainer as a trainer: a function that makes one from hyper-parameters, decorated with `espalier.transformers.trainer`.

Its model, data, collator, loss, metrics, optimizer and scheduler are used, by its own methods; its train(), its callbacks and its way
to go on from a checkpoint are not. Data is read by Espalier's loader."""

import torch
import transformers

from espalier import attributes, generators, optimizer
from espalier.adapted_loader import adapted
from espalier.failure import TrainerError
from espalier.loader import batches
from espalier.said import say_once
from espalier.trainer import BATCH_SIZE_NAMES, Trainer
from espalier.untracked import Globals

OPTIONS = {"learning_rate": "lr", "adam_epsilon": "eps"}  # an argument's name -> the optimizer's
BATCH_SIZE = ("per_device_train_batch_size", *BATCH_SIZE_NAMES)
OF_THE_LOOP = ("gradient_accumulation_steps", "max_grad_norm")  # may be sequences, too

REFUSED = ("bf16", "fp16", "bf16_full_eval", "fp16_full_eval", "torch_compile", "use_liger_kernel", "neftune_noise_alpha", "auto_find_batch_size",
           "deepspeed", "fsdp", "parallelism_config", "activation_checkpointing", "gradient_checkpointing", "enable_jit_checkpoint")  # fmt: skip
# What a study decides: said if it is none of these.
LEFT_TO_THE_STUDY = {"num_train_epochs": (3.0,), "max_steps": (-1,), "eval_strategy": ("no",), "eval_on_start": (False,),
                     "save_strategy": ("no", "steps"), "load_best_model_at_end": (False,), "resume_from_checkpoint": (None,)}  # fmt: skip
SILENT_CALLBACKS = (transformers.DefaultFlowCallback, transformers.PrinterCallback, transformers.ProgressCallback)
TIMES = ("runtime", "samples_per_second", "steps_per_second", "jit_compilation_time", "model_preparation_time")


def trainer(*, hyper_parameters=None, metrics=(), setup=None, version=None, data=None, files=(), ignore_packages=(), reload=False):
    """A decorator of make(hp), which returns a transformers.Trainer; studies call it by the function's name. Arguments as the
    attributes of es.Trainer; `setup(trainer, changed)` gets new values of sequences that nothing takes by their names: options of the
    optimizer and `learning_rate`, `per_device_train_batch_size`, `gradient_accumulation_steps`, `max_grad_norm`."""

    def decorate(make):
        make.espalier_trainer = type(make.__name__, (TransformersTrainer,), {
            "__module__": make.__module__, "make": staticmethod(make), "on_setup": staticmethod(setup),
            "hyper_parameters": hyper_parameters or {}, "metrics": metrics, "version": version, "data": data, "files": files,
            "ignore_packages": ignore_packages, "reload": reload,
        })  # fmt: skip
        return make

    return decorate


class TransformersTrainer(Trainer):
    make = on_setup = None
    _outlives_train = False  # batches are drawn before the user's code sees them

    def init(self, hp):
        self.trainer = theirs = self.make(dict(hp))
        generators.seed_all(hp["seed"])  # theirs has seeded with its own argument
        _check(theirs)
        theirs.callback_handler.callbacks = []
        self.model = theirs.model
        raw = lambda *prepared, **_: prepared[0]  # noqa: E731, what accelerate would do for several processes
        theirs.accelerator.prepare = raw
        self._make_loaders()
        theirs.create_optimizer()
        self.optimizer = theirs.optimizer
        *_, updates = theirs.set_initial_training_values(theirs.args, self.loader)
        self.scheduler = self._make_scheduler(updates)
        self.progress = {"epoch": 0, "batch": 0, "global_step": 0}  # batch: of the epoch
        self._track_all()

    def _make_loaders(self):
        theirs = self.trainer
        of_evaluations = theirs.get_eval_dataloader
        self.loader = _adapted(theirs.get_train_dataloader(), "get_train_dataloader()")
        self.loader.batches_an_update = theirs.args.gradient_accumulation_steps
        theirs.get_eval_dataloader = lambda *which: _adapted(of_evaluations(*which), "get_eval_dataloader()")

    def _make_scheduler(self, updates):
        """`updates`: those that the arguments ask for; they end nothing, but schedulers are shaped by them."""
        theirs = self.trainer
        declared = type(self).hyper_parameters.get("learning_rate")
        kind = transformers.SchedulerType(theirs.args.lr_scheduler_type)
        if declared is not None and not declared.initial and theirs.lr_scheduler is None:
            if kind is not transformers.SchedulerType.CONSTANT:
                raise TrainerError(f"lr_scheduler_type={kind.value!r}: a scheduler writes the learning rate, and so does the hyper-parameter "
                                   "learning_rate: make that es.initial, or write lr_scheduler_type='constant'")  # fmt: skip
            return None
        scheduler = theirs.create_scheduler(num_training_steps=updates)
        if not isinstance(scheduler, torch.optim.lr_scheduler.LRScheduler) or isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
            raise TrainerError(f"{type(scheduler).__name__} looks at validations: when is validated is up to the study, and may change nothing "
                               "in training")  # fmt: skip
        return scheduler

    def _track_all(self):
        known = [self.model, self.optimizer, self.scheduler, self.loader]
        self.model_attributes = attributes.of_module(self.model)
        self.own_attributes = attributes.Attributes({type(self.trainer).__name__: self.trainer}, {
            name for name, value in vars(self.trainer).items() if any(value is each for each in known) or name == "_eval_dataloaders"})  # fmt: skip
        self.globals = Globals(self.trainer, self.model, self.loader.dataset)
        self.track(self.model, self.optimizer, self.loader, self.progress, attributes=self.model_attributes, trainer=self.own_attributes)
        if self.scheduler is not None:
            self.track(self.scheduler)

    def setup(self, changed):
        theirs, rest, options = self.trainer, {}, {}
        for name, value in changed.items():
            if hasattr(theirs.args, name):
                setattr(theirs.args, name, value)
            if name in BATCH_SIZE:
                self.loader.batch_size = value
            elif self.takes(OPTIONS.get(name, name)):
                options[name] = value
            elif name not in OF_THE_LOOP:
                rest[name] = value
        self.loader.batches_an_update = theirs.args.gradient_accumulation_steps
        for name, value in options.items():
            optimizer.options_of(self.optimizer).set(self.optimizer, OPTIONS.get(name, name), value, self._values_at_init[name])
        if rest and self.on_setup is None:
            raise TrainerError(f"nothing takes the hyper-parameter {min(rest)} while it changes: make it es.initial, or give a function "
                               "setup(trainer, changed) that sets it")  # fmt: skip
        if rest:
            self.on_setup(theirs, rest)

    def train(self):
        losses, samples = 0.0, 0
        updates, done, is_over = self.step_meaning.updates, 0, False
        while not is_over:
            loss, count = self._update()
            losses, samples = losses + loss * count, samples + count
            done += 1
            is_over = self.loader.is_between_epochs if updates is None else done == updates
        self.globals.check()
        return {"loss": losses / samples, "samples": samples, "learning_rate": self.optimizer.param_groups[0]["lr"]}

    def _update(self):
        """(mean loss, count of samples), as transformers.Trainer trains it."""
        theirs, model, progress = self.trainer, self.model, self.progress
        self._show_progress()
        if progress["batch"] == 0 and hasattr(self.loader.sampler, "set_epoch"):
            self.loader.sampler.set_epoch(progress["epoch"])
        given, count = [], 0
        for batch in batches(self.loader, 1):
            given.append(batch)
            count += self.loader.samples_given
        given, items = theirs.get_batch_samples(iter(given), len(given), theirs.args.device)
        theirs.current_gradient_accumulation_steps = len(given)
        loss = sum(theirs.training_step(model, inputs, items) for inputs in given)
        if theirs.args.max_grad_norm > 0:
            theirs._clip_grad_norm(model)
        self.optimizer.step()
        if self.scheduler is not None:
            self.scheduler.step()
        model.zero_grad()
        progress["global_step"] += 1
        progress["batch"] += len(given)
        if self.loader.is_between_epochs:
            progress.update(epoch=progress["epoch"] + 1, batch=0)
        self._show_progress()
        return loss, count

    def _show_progress(self):
        """To code that looks at trainer.state."""
        state = self.trainer.state
        state.global_step = self.progress["global_step"]
        state.epoch = self.progress["epoch"] + self.progress["batch"] / len(self.loader)

    def evaluate(self):
        self._show_progress()
        with self.model_attributes.put_back(), self.own_attributes.put_back():
            measured = self.trainer.evaluate()
        self.trainer.state.log_history.clear()
        return {name: value for name, value in measured.items() if name != "epoch" and not name.endswith(TIMES)}


def _adapted(loader, where):
    if getattr(getattr(loader, "worker_init_fn", None), "func", None) is transformers.trainer_utils.seed_worker:
        loader.worker_init_fn = None  # generators are set before each sample
    return adapted(loader, where)


def _check(theirs):
    """Says what has no effect. Raises TrainerError for what could not be made exact."""
    if not isinstance(theirs, transformers.Trainer):
        raise TrainerError(f"the function made {type(theirs).__qualname__}: it makes a transformers.Trainer")
    for name in REFUSED:
        if value := getattr(theirs.args, name, None):
            raise TrainerError(f"TrainingArguments({name}={value!r}) has no counterpart here: leave it out")
    if theirs.args.n_gpu > 1 or theirs.args.world_size > 1:
        raise TrainerError("several devices train together; under Espalier one does: set CUDA_VISIBLE_DEVICES")
    ignored = [name for name, usual in LEFT_TO_THE_STUDY.items() if getattr(theirs.args, name) not in usual]
    for each in theirs.callback_handler.callbacks:
        if isinstance(each, transformers.EarlyStoppingCallback):
            ignored.append("EarlyStoppingCallback")
        elif not isinstance(each, SILENT_CALLBACKS) and not type(each).__module__.startswith("transformers."):
            raise TrainerError(f"callbacks are not called, and {type(each).__qualname__} may change what is trained: do it in training_step() "
                               "of a subclass")  # fmt: skip
    if ignored:
        say_once(f"{', '.join(ignored)}: without effect here, but for the form of a scheduler; how long is trained, when is evaluated and what "
                 "is saved is up to the study")  # fmt: skip
