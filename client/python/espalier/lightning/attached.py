"""What a LightningModule finds under `self.trainer`: the part of L.Trainer that says where training stands, and what hooks work with."""

import weakref

from lightning.pytorch.core import optimizer as lightning_optimizer
from lightning.pytorch.plugins.precision import Precision

from espalier.failure import TrainerError
from espalier.said import say_once


class NotHere(TrainerError, AttributeError):
    """So that hasattr() and getattr() with a default still work."""


class Attached:
    """Attributes are named as those of L.Trainer."""

    is_global_zero, global_rank, local_rank, node_rank, world_size, num_devices, num_nodes = True, 0, 0, 0, 1, 1, 1
    barebones = fast_dev_run = sanity_checking = testing = predicting = False
    logger = log_dir = ckpt_path = progress_bar_callback = checkpoint_callback = early_stopping_callback = None
    loggers, callbacks = (), ()

    def __init__(self, module, data_module, arguments, log):
        self._log = log
        self.lightning_module = self.model = module
        self.datamodule = data_module
        self.gradient_clip_val = arguments.gradient_clip_val
        self.gradient_clip_algorithm = arguments.gradient_clip_algorithm
        self.accumulate_grad_batches = arguments.accumulate_grad_batches
        self.precision_plugin = Precision()
        self.training, self.validating = True, False
        self.progress = {"epoch": 0, "batch": 0, "global_step": 0}  # batch: of the epoch, counted from 0
        self.is_last_batch = False
        self.train_dataloader, self.val_dataloaders = None, []
        self.optimizers, self.lr_scheduler_configs = [], []

    def configure_optimizers(self):
        """Asks the module for its optimizers and schedulers."""
        module = self.lightning_module
        optimizers, schedulers, monitor = lightning_optimizer._configure_optimizers(module.configure_optimizers())
        if module.automatic_optimization:
            self.lr_scheduler_configs = lightning_optimizer._configure_schedulers_automatic_opt(schedulers, monitor)
        else:
            self.lr_scheduler_configs = lightning_optimizer._configure_schedulers_manual_opt(schedulers)
        lightning_optimizer._validate_multiple_optimizers_support(optimizers, module)
        lightning_optimizer._validate_scheduler_api(self.lr_scheduler_configs, module)
        self.optimizers = optimizers
        self.strategy = Strategy(self)

    @property
    def current_epoch(self):
        return self.progress["epoch"]

    @property
    def global_step(self):
        """How often optimizers have stepped."""
        return self.progress["global_step"]

    @property
    def num_training_batches(self):
        return len(self.train_dataloader)

    @property
    def evaluating(self):
        return self.validating

    @property
    def callback_metrics(self):
        """What was logged, as of the end of the last epoch."""
        return self._log.shown

    logged_metrics = callback_metrics

    progress_bar_metrics = callback_metrics

    @property
    def should_stop(self):
        return False

    @should_stop.setter
    def should_stop(self, _):
        say_once("trainer.should_stop: without effect here; how long is trained is up to the study")

    def __getattr__(self, name):
        if name in ("max_epochs", "max_steps", "min_epochs", "min_steps", "estimated_stepping_batches"):
            raise NotHere(f"trainer.{name}: how long is trained is up to the study: make it a hyper-parameter of the module, es.initial(int, ...)")
        raise NotHere(f"trainer.{name}: under Espalier a module's trainer has no such attribute")


class Strategy:
    """What LightningModule and LightningOptimizer call to go backward and to step."""

    def __init__(self, attached):
        self._attached = weakref.proxy(attached)
        self.lightning_module = attached.lightning_module
        self.root_device = attached.lightning_module.device
        self._lightning_optimizers = [lightning_optimizer.LightningOptimizer(each) for each in attached.optimizers]
        for each in self._lightning_optimizers:
            each._strategy = weakref.proxy(self)

    def backward(self, loss, optimizer, *arguments, **named):
        module = self.lightning_module
        module.on_before_backward(loss)
        module.backward(loss, *arguments, **named)
        module.on_after_backward()

    def optimizer_step(self, optimizer, closure, **named):
        attached, module = self._attached, self.lightning_module

        def forward_and_clip():
            result = closure()
            module.on_before_optimizer_step(optimizer)
            if module.automatic_optimization:
                module.configure_gradient_clipping(optimizer, attached.gradient_clip_val, attached.gradient_clip_algorithm)
            return result

        result = optimizer.step(closure=forward_and_clip, **named)
        if not module.automatic_optimization:
            attached.progress["global_step"] += 1
        return result

    @staticmethod
    def reduce(tensor, *_, **__):
        return tensor

    @staticmethod
    def barrier(*_, **__):
        """There is one process."""

