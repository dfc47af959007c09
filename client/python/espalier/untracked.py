"""Warnings, once each on standard error, of what looks like a training's state and is not tracked."""

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader, RandomSampler

from espalier import generators
from espalier.loader import ResumableLoader
from espalier.said import say_once


def warn_of_attributes(tracked, visible):
    """After Init. `visible`: name -> object, a trainer's attributes or a script's variables."""
    known = {id(each) for _, each in tracked.objects()}
    for each in tracked.of_type(nn.Module):
        known.update(map(id, [*each.modules(), *each.parameters(), *each.buffers()]))
    for name, each in visible.items():
        if id(each) not in known and _looks_like_state(each):
            _warn(f"{name} ({type(each).__qualname__}) is not tracked")


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
    return isinstance(each, (Optimizer, LRScheduler, torch.Tensor)) or generators.is_one(each)


def _warn(text):
    say_once(f"{text}, and so no part of saved states. If training changes it, give it to track().")
