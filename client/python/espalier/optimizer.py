"""An optimizer's state, and the options of its parameter groups that hyper-parameters write.

Two things write options: Setup, by hyper-parameters, and training itself, by schedulers and by hand. A state holds both, and for
each option what Setup last made of it. On Load, Setup's word of now counts where it differs from Setup's word of then, and the saved
value where it does not: so neither is a value undone that Setup gave before Load, nor what a scheduler made of one."""

import copy
import itertools
import weakref

import torch

from espalier.failure import TrainerError

_options = weakref.WeakKeyDictionary()


def options_of(optimizer):
    """The record of an optimizer's options, begun when it is first asked for: at the end of Init."""
    return _options.setdefault(optimizer, Options(optimizer))


class Options:
    """`own`: each group's options as Init left them. `set_up`: as Init left them or as Setup last changed them."""

    def __init__(self, optimizer):
        self.own = plain_options(optimizer)
        self.set_up = copy.deepcopy(self.own)

    def set(self, optimizer, name, value, value_at_init):
        """Sets an option of all groups, in proportion to what each had at Init, when the hyper-parameter was `value_at_init`.
        So a group without decay stays without. Raises TrainerError."""
        for group, own in zip(optimizer.param_groups, self.own):
            if own[name] == value_at_init:
                if own[name] == 0 and len(self.own) > 1 and value != 0:
                    raise TrainerError(f"{name} is 0 at step 0, so the shares of the optimizer's {len(self.own)} parameter groups in it "
                                       "are unknown: set it in setup() yourself")  # fmt: skip
                group[name] = value
            elif _is_number(own[name]) and _is_number(value):
                if value_at_init == 0:
                    raise TrainerError(f"{name} is 0 at step 0, but a parameter group began with {own[name]}: set it in setup() yourself")
                group[name] = own[name] / value_at_init * value

    def note_changes(self, optimizer, before):
        """After Setup: remembers what differs from `before`, the plain options. Returns the names."""
        changed = set()
        for group, was, set_up in zip(optimizer.param_groups, before, self.set_up):
            names = {name for name in was if group[name] != was[name]}
            set_up.update({name: group[name] for name in names})
            changed |= names
        return changed


def innermost(optimizer):
    """The optimizer within such wrappers as accelerate's."""
    while isinstance(getattr(optimizer, "optimizer", None), torch.optim.Optimizer):
        optimizer = optimizer.optimizer
    return optimizer


def capture(optimizer):
    return {"state_dict": optimizer.state_dict(), "set_up": options_of(optimizer).set_up}


def restore(optimizer, saved):
    """Raises ValueError, PyTorch's or ours, if the state is of another optimizer."""
    set_up = options_of(optimizer).set_up
    in_force = plain_options(optimizer)
    optimizer = innermost(optimizer)
    optimizer.load_state_dict(saved["state_dict"])
    _keep_as_saved(optimizer, saved["state_dict"])
    for group, now, then, values in zip(optimizer.param_groups, set_up, saved["set_up"], in_force):
        group.update({name: values[name] for name in now if name not in then or now[name] != then[name]})


def _keep_as_saved(optimizer, state_dict):
    """PyTorch casts what is kept for a parameter to the parameter's type, and spoils texts: undone, where it loads by itself."""
    if type(optimizer).load_state_dict is not torch.optim.Optimizer.load_state_dict:
        return
    indices = itertools.chain.from_iterable(group["params"] for group in state_dict["param_groups"])
    parameters = itertools.chain.from_iterable(group["params"] for group in optimizer.param_groups)
    for index, parameter in zip(indices, parameters):
        if index in state_dict["state"]:
            optimizer.state[parameter] = state_dict["state"][index]


def plain_options(optimizer):
    """Options that are tensors are state: they cannot be compared as values are."""
    return [
        {name: value for name, value in group.items() if name != "params" and not isinstance(value, torch.Tensor)}
        for group in optimizer.param_groups
    ]


def _is_number(value):
    return type(value) in (int, float)
