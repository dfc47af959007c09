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
    overwrite_all(module, saved)
    put_back_modes(module, others["modes"])
    for each, requires_grad in zip(module.parameters(), others["requires_grad"]):
        each.requires_grad_(requires_grad)
    for name, each in _with_extra_state(module):
        each.set_extra_state(others["extra"][name])


def found_in(tree, name=""):
    """(name, named tensors) of every module that was captured into the tree, by its place there."""
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, (list, tuple)) else ()
    if isinstance(tree, dict) and isinstance(tree.get(""), dict) and "modes" in tree[""]:
        yield name, {key: value for key, value in tree.items() if key}
        return
    for key, value in children:
        yield from found_in(value, f"{name}.{key}" if name else str(key))


def fits(module, values):
    """Whether these are the module's tensors, by names, shapes and types."""
    tensors = _tensors(module)
    return tensors.keys() == values.keys() and all(
        tensor.shape == values[name].shape and tensor.dtype == values[name].dtype for name, tensor in tensors.items()
    )


def overwrite_all(module, values):
    """Of every tensor the value. Raises ValueError, which names the tensor."""
    for name, tensor in _tensors(module).items():
        overwrite(name, tensor, values[name])


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
