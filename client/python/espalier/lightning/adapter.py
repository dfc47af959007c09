"""The trainer that a LightningModule becomes: Lightning's order of hooks, step by step."""

import torch
from lightning.pytorch import LightningDataModule, LightningModule
from torchmetrics import Metric

from espalier import attributes
from espalier.adapted_loader import adapted
from espalier.failure import TrainerError
from espalier.lightning import arguments
from espalier.lightning.attached import Attached
from espalier.lightning.hooks import OfCheckpoints, behind_the_batch, transferred, validates
from espalier.lightning.log import Log
from espalier.loader import batches
from espalier.trainer import Trainer
from espalier.untracked import Globals

OF_HYPER_PARAMETERS = {"_hparams", "_hparams_initial", "_hparams_name"}
MODULES_OWN = frozenset([*vars(LightningModule()), *OF_HYPER_PARAMETERS, "log"])  # attributes' names
DATA_MODULES_OWN = frozenset([*vars(LightningDataModule()), *OF_HYPER_PARAMETERS])
OF_THE_LOOP = ("gradient_clip_val", "accumulate_grad_batches")


class LightningTrainer(Trainer):
    make_module = make_data = on_setup = None
    trainer_arguments = {}
    _outlives_train = False  # batches are drawn before the user's code sees them

    def init(self, hp):
        given = {**self.trainer_arguments, **{name: hp[name] for name in OF_THE_LOOP if name in hp}}
        settings = arguments.checked(given)
        self.module, self.data_module = self.make_module(hp), self.make_data(hp)
        self.epoch_log, self.step_log, self.validation_log = (Log(self.module) for _ in range(3))
        self.attached = Attached(self.module, self.data_module, settings, self.epoch_log)
        self.weight, self.suffix = 1, ""  # of what is logged: samples; behind its name
        self._attach()
        arguments.say_what_is_left(given, self.module.configure_callbacks())
        for each in filter(None, [self.data_module, self.module]):
            each.prepare_data()
        for each in filter(None, [self.data_module, self.module]):
            each.setup("fit")
        self.module.configure_model()
        self.module.to("cuda" if settings.accelerator != "cpu" and torch.cuda.is_available() else "cpu")
        self.attached.configure_optimizers()
        self._make_loaders(self.data_module or self.module)
        self.module.on_fit_start()
        self.module.on_train_start()
        self._track_all()

    def _attach(self):
        self.module.trainer = self.attached
        if self.data_module is not None:
            self.data_module.trainer = self.attached
        for each in self.module.modules():
            if isinstance(each, LightningModule):
                each.log = self._log

    def _make_loaders(self, source):
        self.loader = adapted(source.train_dataloader(), f"{type(source).__name__}.train_dataloader()")
        given = source.val_dataloader() if validates(self.module) else []
        given = given if isinstance(given, (list, tuple)) else [given]
        self.attached.train_dataloader = self.loader
        self.attached.val_dataloaders = [adapted(each, f"{type(source).__name__}.val_dataloader()") for each in given]

    def _track_all(self):
        attached = self.attached
        schedulers = [each.scheduler for each in attached.lr_scheduler_configs]
        self.module_attributes = attributes.of_module(self.module, MODULES_OWN, except_for=[*attached.optimizers, *schedulers, attached])
        self.globals = Globals(self.module, self.data_module)
        self.track(module=self.module, optimizers=attached.optimizers, schedulers=schedulers, loader=self.loader,
                   progress=attached.progress, log=self.epoch_log, attributes=self.module_attributes,
                   checkpoint=OfCheckpoints(self.module))  # fmt: skip
        self.data_attributes = attributes.of_data(self.data_module, DATA_MODULES_OWN)
        self.track(data_attributes=self.data_attributes)
        if self.data_module is not None:
            self.track(data_module=self.data_module)

    def setup(self, changed):
        for name in changed.keys() & self.module.hparams.keys():
            self.module.hparams[name] = changed[name]
        for name in changed.keys() & set(OF_THE_LOOP):
            setattr(self.attached, name, changed[name])
        by_name = {name: value for name, value in changed.items() if self.takes(name)}
        rest = {name: value for name, value in changed.items() if name not in (*OF_THE_LOOP, *by_name)}
        if rest and self.on_setup is None:
            raise TrainerError(f"nothing takes the hyper-parameter {min(rest)} while it changes: make it es.initial, or give a function "
                               "setup(module, changed) that sets it; it may do nothing if the module reads self.hparams")  # fmt: skip
        self.set_values(by_name)
        if rest:
            self.on_setup(self.module, rest)

    def train(self):
        self.step_log.clear()
        self.losses, self.samples = [], 0
        updates, done, is_over = self.step_meaning.updates, 0, False
        while not is_over:
            is_epochs_last = self._update()
            done += 1
            is_over = is_epochs_last if updates is None else done == updates
        self.globals.check()
        logged = self.step_log.reduced()
        if not self.losses and "loss" not in logged:
            raise TrainerError("training_step() returned no loss: return it, or log it as 'loss'")
        loss = sum(self.losses) / self.samples if self.losses else logged["loss"]
        return {**logged, "loss": loss, "samples": self.samples}

    def _update(self):
        """The batches of one update. Returns whether it is the epoch's last."""
        attached, progress, count = self.attached, self.attached.progress, self.attached.accumulate_grad_batches
        for index in range(count):
            if progress["batch"] == 0:
                self._begin_epoch()
            batch = next(batches(self.loader, 1))
            attached.is_last_batch = self.loader.is_between_epochs
            if self.loader.position.epoch - attached.is_last_batch > progress["epoch"]:  # what was left of it was dropped
                self._step_schedulers("epoch")
                self._end_epoch()
                self._begin_epoch()
            self._train_batch(batch, begins=index == 0, steps=attached.is_last_batch or index == count - 1)
            progress["batch"] += 1
            if attached.is_last_batch:
                self._end_epoch()
                return True
        return False

    def _begin_epoch(self):
        if hasattr(self.loader.sampler, "set_epoch"):
            self.loader.sampler.set_epoch(self.attached.current_epoch)
        self.weight = 1
        self.module.on_train_epoch_start()

    def _end_epoch(self):
        self.weight = 1
        self.epoch_log.show()
        self.module.on_train_epoch_end()
        self.epoch_log.show()
        self._step_schedulers("epoch", on_plateau=True)
        self.epoch_log.end()
        self.attached.progress.update(epoch=self.attached.current_epoch + 1, batch=0)

    def _train_batch(self, batch, begins, steps):
        """`begins`: gradients begin anew; `steps`: the optimizer steps."""
        module, attached, index = self.module, self.attached, self.attached.progress["batch"]
        self.weight = self.loader.samples_given
        batch = transferred(module, self.data_module, batch, 0)
        if module.on_train_batch_start(batch, index) == -1:
            raise TrainerError("on_train_batch_start() returned -1: under Espalier an epoch is read to its end")
        outputs = []
        closure = lambda: self._forward_and_backward(batch, begins, outputs)  # noqa: E731
        if module.automatic_optimization and steps:
            module.optimizer_step(attached.current_epoch, index, attached.strategy._lightning_optimizers[0], closure)
            attached.progress["global_step"] += 1
        else:
            closure()
        if not outputs:
            raise TrainerError("optimizer_step() has not called its closure")
        self._account(outputs[-1])
        if steps:
            self._step_schedulers("step")
        if attached.is_last_batch:
            self._step_schedulers("epoch")
        module.on_train_batch_end(outputs[-1], batch, index)
        if steps:
            self._step_schedulers("step", on_plateau=True)

    def _forward_and_backward(self, batch, begins, outputs):
        """Appends to `outputs` what training_step returned. Some optimizers want it more than once."""
        module, attached, index = self.module, self.attached, self.attached.progress["batch"]
        output = module.training_step(batch, *behind_the_batch(module.training_step, index))
        loss = output.get("loss") if isinstance(output, dict) else output
        outputs.append(output)
        if not module.automatic_optimization:
            return None
        if begins:
            module.on_before_zero_grad(attached.optimizers[0])
            module.optimizer_zero_grad(attached.current_epoch, index, attached.optimizers[0])
        if loss is None:
            return None
        loss = loss / attached.accumulate_grad_batches
        attached.strategy.backward(loss, None)
        outputs[-1] = {**(output if isinstance(output, dict) else {}), "loss": loss.detach()}
        return loss

    def _account(self, output):
        """`output`: in automatic optimization its loss is a share of an update's."""
        share = self.attached.accumulate_grad_batches if self.module.automatic_optimization else 1
        loss = output.get("loss") if isinstance(output, dict) else output
        if loss is not None:
            self.losses.append(loss.detach() * share * self.weight)
        self.samples += self.weight

    def _step_schedulers(self, interval, on_plateau=False):
        count = 1 + (self.attached.progress["batch"] if interval == "step" else self.attached.current_epoch)
        for each in self.attached.lr_scheduler_configs if self.module.automatic_optimization else ():
            if each.interval == interval and each.reduce_on_plateau == on_plateau and count % each.frequency == 0:
                self.module.lr_scheduler_step(each.scheduler, self._monitored(each) if on_plateau else None)

    def _monitored(self, config):
        logged = self.epoch_log.reduced()
        if config.monitor not in logged:
            raise TrainerError(f"{type(config.scheduler).__name__} monitors {config.monitor!r}, which training has not logged: when is validated "
                               "is up to the study, and may change nothing in training. Monitor what training_step() logs")  # fmt: skip
        return logged[config.monitor]

    def evaluate(self):
        if not validates(self.module):
            raise TrainerError(f"{type(self.module).__name__} has no validation_step()")
        shown = dict(self.epoch_log.shown)
        self.validation_log.clear()
        self.attached.training, self.attached.validating = False, True
        try:
            with torch.no_grad(), self.module_attributes.put_back(), self.data_attributes.put_back():
                self._validate()
                return self.validation_log.reduced()
        finally:
            self.epoch_log.shown = shown
            self.attached.training, self.attached.validating = True, False

    def _validate(self):
        module = self.module
        module.on_validation_model_eval()
        module.on_validation_start()
        module.on_validation_epoch_start()
        for number, loader in enumerate(self.attached.val_dataloaders):
            self.suffix = f"/dataloader_idx_{number}" if len(self.attached.val_dataloaders) > 1 else ""
            for index, batch in enumerate(loader):
                self.weight = loader.samples_given
                batch = transferred(module, self.data_module, batch, number)
                module.on_validation_batch_start(batch, index, number)
                output = module.validation_step(batch, *behind_the_batch(module.validation_step, index, number))
                module.on_validation_batch_end(output, batch, index, number)
        self.suffix, self.weight = "", 1
        self.epoch_log.shown.update(self.validation_log.reduced())
        module.on_validation_epoch_end()
        module.on_validation_end()

    def _log(self, name, value, prog_bar=False, logger=None, on_step=None, on_epoch=None, reduce_fx="mean", enable_graph=False,
             sync_dist=False, sync_dist_group=None, add_dataloader_idx=True, batch_size=None, metric_attribute=None,
             rank_zero_only=False):  # fmt: skip
        """LightningModule.log. What training logs is shown by epoch to schedulers, and by step to the service."""
        weight = self.weight if batch_size is None else batch_size
        if self.attached.validating:
            self.validation_log.add(name + self.suffix * add_dataloader_idx, value, weight, reduce_fx)
            return
        self.epoch_log.add(name, value, weight, reduce_fx)
        of_step = value._forward_cache if isinstance(value, Metric) else value
        if of_step is not None:
            self.step_log.add(name, of_step, weight, reduce_fx)
