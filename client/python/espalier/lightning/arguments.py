"""What a user gives to L.Trainer, as far as it says how a module is trained."""

import inspect
from typing import NamedTuple

from lightning.pytorch import Trainer, callbacks

from espalier.failure import TrainerError
from espalier.said import say_once

# What decides how long is trained, when is evaluated, and what is saved: a study decides that here.
LEFT_TO_THE_STUDY = {"max_epochs", "min_epochs", "max_steps", "min_steps", "max_time", "enable_checkpointing", "val_check_interval",
                     "check_val_every_n_epoch", "num_sanity_val_steps"}  # fmt: skip
CALLBACKS_LEFT_TO_THE_STUDY = (callbacks.EarlyStopping, callbacks.Checkpoint, callbacks.Timer)
# What changes no bits, or what Espalier does in any case.
WITHOUT_EFFECT = {"logger", "enable_progress_bar", "enable_model_summary", "log_every_n_steps", "default_root_dir", "deterministic",
                  "benchmark", "profiler", "inference_mode", "use_distributed_sampler", "detect_anomaly", "enable_autolog_hparams",
                  "model_registry"}  # fmt: skip
CALLBACKS_WITHOUT_EFFECT = (callbacks.ProgressBar, callbacks.ModelSummary, callbacks.LearningRateMonitor, callbacks.DeviceStatsMonitor)
ALLOWED = {"precision": ("32", "32-true", 32), "devices": ("auto", 1), "accelerator": ("auto", "cpu", "gpu", "cuda")}


class Arguments(NamedTuple):
    """Named as L.Trainer names them."""

    gradient_clip_val: float | None = None
    gradient_clip_algorithm: str | None = None
    accumulate_grad_batches: int = 1
    accelerator: str = "auto"


def checked(given):
    """The Arguments among `given`, name -> value. Raises TrainerError for what L.Trainer has not, or what has no counterpart here."""
    defaults = {name: each.default for name, each in inspect.signature(Trainer.__init__).parameters.items()}
    for name, value in given.items():
        if name not in defaults:
            raise TrainerError(f"{name}: neither espalier.lightning.trainer() nor L.Trainer has such an argument")
        allowed = ALLOWED.get(name, ())
        is_known = name in {*Arguments._fields, *LEFT_TO_THE_STUDY, *WITHOUT_EFFECT, "callbacks"} - ALLOWED.keys()
        if not is_known and value != defaults[name] and value not in allowed:
            raise TrainerError(f"{name}={value!r} has no counterpart here: leave it out")
    for each in callbacks_of(given.get("callbacks")):
        if not isinstance(each, CALLBACKS_LEFT_TO_THE_STUDY + CALLBACKS_WITHOUT_EFFECT):
            raise TrainerError(f"callbacks are not called, and {type(each).__qualname__} may change what is trained: do it in hooks of the module")
    return Arguments(**{name: value for name, value in given.items() if name in Arguments._fields and value is not None})


def say_what_is_left(given, of_module):
    """What has no effect though a user may expect it. `of_module`: the callbacks that the module itself asks for. Raises TrainerError
    as `checked`."""
    asked_for = [*callbacks_of(given.get("callbacks")), *callbacks_of(of_module)]
    checked({"callbacks": asked_for})
    names = [name for name in given if name in LEFT_TO_THE_STUDY]
    names += sorted({type(each).__name__ for each in asked_for if isinstance(each, CALLBACKS_LEFT_TO_THE_STUDY)})
    if names:
        say_once(f"{', '.join(names)}: without effect here; how long is trained, when is evaluated and what is saved is up to the study")


def callbacks_of(given):
    if not given:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]
