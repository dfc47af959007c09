"""The package, made to forget one thing of a state: to see that tests of law 1 would find that."""

import random

import numpy
import torch

from espalier import attributes, generators, module, optimizer, position


def nothing(*_):
    pass


def all_but(get, put):
    """Of the process's generators."""
    restore = generators.restore

    def restore_others(captured):
        kept = get()
        restore(captured)
        put(kept)

    return restore_others


FORGET = {
    "Python's generator": (generators, "restore", all_but(random.getstate, random.setstate)),
    "NumPy's generator": (generators, "restore", all_but(numpy.random.get_state, numpy.random.set_state)),
    "PyTorch's generator": (generators, "restore", all_but(torch.get_rng_state, torch.set_rng_state)),
    "data position": (position.Order, "load_state_dict", nothing),
    "optimizer state": (optimizer, "restore", nothing),
    "buffers": (module, "_tensors", lambda each: dict(each.named_parameters(remove_duplicate=False))),
    "counters": (attributes.Attributes, "load_state_dict", nothing),
}
WHOLE = {part: getattr(owner, name) for part, (owner, name, _) in FORGET.items()}


def forget(part):
    """From here on, and no other part any more. "": nothing."""
    for each, (owner, name, _) in FORGET.items():
        setattr(owner, name, WHOLE[each])
    if part:
        owner, name, without = FORGET[part]
        setattr(owner, name, without)
