"""What looks like a training's state and is not tracked: said to the user, or refused where it is sure to be a mistake."""

import sys

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader, RandomSampler

from espalier import generators, tracking
from espalier.failure import TrainerError
from espalier.loader import ResumableLoader
from espalier.said import say_once


class Globals:
    """The generators at the top of the files in which some classes or functions are written, but for those that are `tracked`."""

    def __init__(self, *written, tracked=()):
        modules = {each.__module__ for each in written if hasattr(each, "__module__")} & sys.modules.keys()
        found = {(module, name): each for module in modules for name, each in vars(sys.modules[module]).items() if generators.is_one(each)}
        self._marks = {place: (each, generators.mark_of(each)) for place, each in found.items()
                       if not generators.is_of_process(each) and not any(each is other for other in tracked)}  # fmt: skip

    def check(self):
        """Raises TrainerError if one was drawn from since this was made."""
        for (module, name), (each, mark) in self._marks.items():
            if generators.mark_of(each) != mark:
                raise TrainerError(f"{module}.{name}: training draws from a generator that no state holds: draw from PyTorch's, NumPy's or "
                                   "Python's own, or make it an attribute that is tracked")  # fmt: skip


def warn_of_attributes(tracked, visible):
    """After Init. `visible`: name -> object, a trainer's attributes or a script's variables."""
    known = {id(each) for _, each in tracked.objects()}
    for each in tracked.of_type(nn.Module):
        known.update(map(id, [*each.modules(), *each.parameters(), *each.buffers()]))
    for name, each in visible.items():
        if id(each) not in known and _looks_like_state(each):
            _warn(f"{name} ({type(each).__qualname__}) is not tracked")


def plain(variables):
    return {name: value for name, value in variables.items() if type(value) in tracking.PLAIN_TYPES}


def warn_of_variables(before, variables):
    """After a step. `before`: a main()'s plain variables, as Init left them."""
    for name, value in plain(variables).items():
        if name in before and before[name] != value:
            say_once(f"{name} of main() changes in a step, and is no part of saved states. If the next step depends on it, keep it in a dict "
                     "and give that to track().")  # fmt: skip


def warn_of_loaders(tracked, read):
    """After a step. `read`: positions of the loaders that training has read."""
    known = [each.position for each in tracked.of_type(ResumableLoader)]
    if any(each not in known for each in read):
        _warn("a loader that train() reads is not tracked")


def _looks_like_state(each):
    if isinstance(each, nn.Module):
        return any(True for _ in each.parameters()) or any(True for _ in each.buffers())
    if isinstance(each, DataLoader):
        return isinstance(each.sampler, RandomSampler)
    if isinstance(getattr(each, "scheduler", None), LRScheduler):  # accelerate's wrapper
        return True
    return isinstance(each, (Optimizer, LRScheduler, torch.Tensor)) or generators.is_one(each)


def _warn(text):
    say_once(f"{text}, and so no part of saved states. If training changes it, give it to track().")
