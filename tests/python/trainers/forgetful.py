"""Small, in a package that was made to forget one thing of a state: the environment's FORGET says which."""

import contextlib
import os
import random
import types

import numpy
import torch
from small import Small

from espalier import generators, module, optimizer, position, training

FORGET = os.environ["FORGET"]


def nothing(*_):
    pass


class Forgetful(Small):
    def track_all(self):
        self.track(self.model, self.optimizer, self.loader)
        if FORGET != "counter":
            self.track_attributes("seen")


def load_all_but(get, put):
    """Of the generators; Evaluate puts back all of them."""
    restore = generators.restore

    def restore_others(captured):
        kept = get()
        restore(captured)
        put(kept)

    generators.restore = restore_others


if FORGET == "Python's generator":
    load_all_but(random.getstate, random.setstate)
if FORGET == "NumPy's generator":
    load_all_but(numpy.random.get_state, numpy.random.set_state)
if FORGET == "PyTorch's generator":
    load_all_but(torch.get_rng_state, torch.set_rng_state)
if FORGET == "generators in evaluations":
    training.generators = types.SimpleNamespace(**{**vars(generators), "put_back": contextlib.nullcontext})
if FORGET == "data position":
    position.Order.load_state_dict = nothing
if FORGET == "optimizer state":
    optimizer.restore = nothing
if FORGET == "buffers":
    module._tensors = lambda each: dict(each.named_parameters(remove_duplicate=False))
if FORGET == "parameters":
    module.overwrite = nothing
if FORGET == "modes":
    module.put_back_modes = nothing
