"""A module's state: parameters and all buffers, which of them are frozen, each module's mode, and extra state."""

import torch
from torch import nn


def capture(module):
    """Named tensors, those of `state_dict` and buffers that are not persistent; under the empty name what is no tensor."""
    return {
        "": {
            "modes": [each.training for each in module.modules()],
            "requires_grad": [each.requires_grad for each in module.parameters()],
            "extra": {name: each.get_extra_state() for name, each in _with_extra_state(module)},
        },
        **_tensors(module),
    }


def restore(module, saved):
    """Overwrites the tensors' values: tensors keep their identity. Raises ValueError, which names the tensor."""
    others = saved[""]
    tensors = _tensors(module)
    if unexpected := tensors.keys() ^ (saved.keys() - {""}):
        raise ValueError(f"the model has other parameters or buffers: {', '.join(sorted(unexpected))}")
    for name, tensor in tensors.items():
        overwrite(name, tensor, saved[name])
    put_back_modes(module, others["modes"])
    for each, requires_grad in zip(module.parameters(), others["requires_grad"]):
        each.requires_grad_(requires_grad)
    for name, each in _with_extra_state(module):
        each.set_extra_state(others["extra"][name])


def overwrite(name, tensor, value):
    """Raises ValueError, which names the tensor, if the value does not fit."""
    if tensor.shape != value.shape or tensor.dtype != value.dtype:
        raise ValueError(f"{name} is {_kind(tensor)}, in the state {_kind(value)}")
    with torch.no_grad():
        tensor.copy_(value)


def put_back_modes(module, modes):
    for each, training in zip(module.modules(), modes):
        each.training = training


def _tensors(module):
    return dict([*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)])


def _with_extra_state(module):
    return [(name, each) for name, each in module.named_modules() if type(each).get_extra_state is not nn.Module.get_extra_state]


def _kind(tensor):
    return f"{tensor.dtype} {list(tensor.shape)}"
