"""How Lightning calls some of a module's hooks."""

import inspect

from lightning.pytorch import LightningDataModule, LightningModule
from lightning.pytorch.utilities.signature_utils import is_param_in_hook_signature

from espalier.failure import TrainerError


def validates(module):
    return type(module).validation_step is not LightningModule.validation_step


def behind_the_batch(step, *numbers):
    """A step's arguments behind the batch: as many of the numbers (of batch and loader) as it takes."""
    if is_param_in_hook_signature(step, "dataloader_iter", explicit=True):
        raise TrainerError(f"{step.__name__}(dataloader_iter): take a batch: what a step reads by itself has no place that is saved")
    parameters = inspect.signature(step).parameters.values()
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return numbers
    return numbers[: sum(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters) - 1]


def transferred(module, data_module, batch, number):
    """The batch on the model's device, by the hooks of the data module where it has its own, else of the module."""
    hooks = [("on_before_batch_transfer", ()), ("transfer_batch_to_device", (module.device,)), ("on_after_batch_transfer", ())]
    for hook, arguments in hooks:
        has_own = data_module is not None and getattr(type(data_module), hook) is not getattr(LightningDataModule, hook)
        batch = getattr(data_module if has_own else module, hook)(batch, *arguments, number)
    return batch


class OfCheckpoints:
    """What the module's on_save_checkpoint adds to a checkpoint, as state."""

    def __init__(self, module):
        self._module = module

    def state_dict(self):
        checkpoint = {"state_dict": self._module.state_dict()}
        self._module.on_save_checkpoint(checkpoint)
        del checkpoint["state_dict"]
        return checkpoint

    def load_state_dict(self, saved):
        self._module.on_load_checkpoint({"state_dict": self._module.state_dict(), **saved})
