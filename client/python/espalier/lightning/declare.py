"""How a user makes a trainer from a LightningModule's class."""

import inspect
import sys

from espalier.failure import TrainerError
from espalier.lightning import arguments
from espalier.lightning.adapter import OF_THE_LOOP, LightningTrainer


def trainer(module, data_module=None, *, hyper_parameters, metrics=(), setup=None, version=None, data=None, files=(), ignore_packages=(),
            reload=False, **trainer_arguments):  # fmt: skip
    """`module`, `data_module`: a LightningModule's and a LightningDataModule's class, or functions that make one; each gets the
    hyper-parameters that it has parameters for. Without a data module the module itself has the loaders. Two hyper-parameters are
    set here: gradient_clip_val and accumulate_grad_batches.
    `metrics`, `version`, `data`, `files`, `ignore_packages`, `reload`: as the attributes of es.Trainer. Studies call the trainer as the variable
    that this is assigned to.
    `setup(module, changed)` gets new values of sequences that no optimizer and no loader takes by their names.
    `trainer_arguments`: what L.Trainer got. What decides how long is trained or what is saved is ignored, and what has no counterpart
    is refused.
    Raises TrainerError."""
    arguments.checked(trainer_arguments)
    makers = [each for each in (module, data_module) if each is not None]
    for parameter in hyper_parameters:
        if parameter not in (*OF_THE_LOOP, "seed") and not any(takes(each, parameter) for each in makers):
            raise TrainerError(f"hyper-parameter {parameter}: {' and '.join(each.__name__ for each in makers)} have no such parameter")
    return type(module.__name__, (LightningTrainer,), {
        "is_named_by_variable": True,
        "__module__": sys._getframe(1).f_globals["__name__"],
        "make_module": staticmethod(lambda hp: module(**_of(hp, module))),
        "make_data": staticmethod(lambda hp: data_module and data_module(**_of(hp, data_module))),
        "on_setup": staticmethod(setup), "trainer_arguments": trainer_arguments, "hyper_parameters": hyper_parameters, "metrics": metrics,
        "version": version, "data": data, "files": files, "ignore_packages": ignore_packages, "reload": reload,
    })  # fmt: skip


def takes(make, parameter):
    parameters = inspect.signature(make).parameters
    return parameter in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def _of(hp, make):
    return {name: value for name, value in hp.items() if takes(make, name) and name not in OF_THE_LOOP}
