"""What objects keep in attributes of their own, beside what PyTorch knows of: counters, lists, tensors that are no buffers, generators,
things with state_dict. Users of a framework do not say what belongs to the state: so whatever training has changed does.

Changes are seen by comparing marks. A mark costs no copy of a tensor: PyTorch counts in `_version` what is done to one in place. NumPy
arrays and sets have no such count, and a state cannot hold them: they are not seen. Of a container with more than CONTAINER_MAX
elements it is seen that it was replaced, or has another length."""

import contextlib
import itertools

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from espalier import generators, state, tracking
from espalier.said import say_once

CONTAINER_MAX = 1000
SAMPLE = 10
DATASETS_MAX = 100
LEARNS = "espalier.learns"  # the key of a tensor that is a leaf and wants gradients
PYTORCHS_OWN = frozenset(vars(nn.Module()))  # names of attributes
DICTS, LISTS = tuple(state.DICTS.values()), tuple(state.LISTS.values())


class Attributes:
    """Of some objects, path -> object. The state is what differs from what there was when this was made, at the end of Init: so data
    that nobody changes costs nothing. `ignored`: names of attributes."""

    def __init__(self, owners, ignored=PYTORCHS_OWN):
        self._owners = owners
        self._ignored = ignored
        self.accept()

    def accept(self):
        """From here on, what there is now is what nobody has changed."""
        self._marks = {path: {name: _mark(value) for name, value in self._values(owner)} for path, owner in self._owners.items()}

    def changed(self):
        """(path, name, value) of each that was changed. What became something that no state can hold is said to the user."""
        for path, owner in self._owners.items():
            marks = self._marks[path]
            values = dict(self._values(owner))
            for name, value in values.items():
                if name not in marks or marks[name] != _mark(value):
                    yield path, name, value
            for name in marks.keys() - values.keys() & vars(owner).keys():
                say_once(f"{path or type(owner).__qualname__}.{name} became {type(vars(owner)[name]).__qualname__} in training, which no "
                         "state can hold: if training reads it, keep it as plain values or tensors")  # fmt: skip

    def state_dict(self):
        result = {}
        for path, name, value in self.changed():
            result.setdefault(path, {})[name] = _captured(path, name, value)
        return result

    def load_state_dict(self, saved):
        for path, values in saved.items():
            for name, value in values.items():
                _put(self._owners[path], name, value)

    @contextlib.contextmanager
    def put_back(self):
        """What is changed inside is as it was afterwards, and what nobody had changed counts as that; what is made inside is gone."""
        before = {path: {name: (_mark(value), state.flatten({"": _captured(path, name, value)})) for name, value in self._values(owner)}
                  for path, owner in self._owners.items()}  # fmt: skip
        try:
            yield
        finally:
            for path, owner in self._owners.items():
                for name, value in self._values(owner):
                    if name not in before[path]:
                        delattr(owner, name)
                for name, (mark, arrays) in before[path].items():
                    self._put_one_back(path, name, mark, arrays)

    def _put_one_back(self, path, name, mark, arrays):
        owner = self._owners[path]
        if mark != _mark(vars(owner).get(name)):
            _put(owner, name, state.unflatten(arrays)[""])
            if mark == self._marks[path].get(name):
                self._marks[path][name] = _mark(vars(owner)[name])

    def _values(self, owner):
        return [(name, value) for name, value in list(vars(owner).items()) if name not in self._ignored and _can_be_state(value)]


def of_module(module, ignored=frozenset(), except_for=()):
    """Of all of its modules that are not PyTorch's own. What is among `except_for` is tracked elsewhere."""
    owners = {path: each for path, each in module.named_modules() if not type(each).__module__.startswith("torch.")}
    elsewhere = {id(each) for each in except_for}
    names = {name for owner in owners.values() for name, value in vars(owner).items() if id(value) in elsewhere}
    return Attributes(owners, PYTORCHS_OWN | ignored | names)


def of_data(data, ignored=frozenset()):
    """Of a data set, or what else holds some, and of those that it is made from."""
    owners, waiting = {}, [(type(data).__qualname__, data)]
    while waiting and len(owners) < DATASETS_MAX:
        path, each = waiting.pop()
        if hasattr(each, "__dict__") and not any(each is owner for owner in owners.values()):
            owners[path] = each
            waiting += _datasets_within(path, each)
    return Attributes(owners, ignored)


def _datasets_within(path, owner):
    for name, value in vars(owner).items():
        if isinstance(value, Dataset):
            yield f"{path}.{name}", value
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], Dataset):
            yield from ((f"{path}.{name}.{index}", each) for index, each in enumerate(value))


def _can_be_state(value):
    return _is_value(value) or _has_own_state(value)


def _is_value(value):
    if type(value) in DICTS:
        return all(type(key) in (bool, int, str) and _is_value(each) for key, each in _some(value.items()))
    if type(value) in LISTS:
        return all(map(_is_value, _some(value)))
    return type(value) in tracking.PLAIN_TYPES or isinstance(value, Tensor)


def _some(elements):
    """All, or of very many the first: the rest is as they are, or it is refused where it is saved."""
    return elements if len(elements) <= CONTAINER_MAX else itertools.islice(elements, SAMPLE)


def _has_own_state(value):
    if generators.is_one(value):
        return not generators.is_of_process(value)
    return tracking._is_stateful(value) and not isinstance(value, (nn.Module, type))


def _captured(path, name, value):
    return _told_apart(value) if _is_value(value) else tracking._capture(f"{path}.{name}", value)


def _told_apart(value):
    """The value, in which what an optimizer may hold (leaves that learn) can be told from other tensors."""
    if _learns(value):
        return {LEARNS: value.detach()}
    if type(value) in LISTS and len(value) <= CONTAINER_MAX:
        return type(value)(map(_told_apart, value))
    if type(value) is dict and len(value) <= CONTAINER_MAX:
        return {key: _told_apart(each) for key, each in value.items()}
    return value


def _joined(now, value):
    """What `_told_apart` was given; leaves that learn are those of `now`, with the values that they had."""
    if type(value) is dict and value.keys() == {LEARNS}:
        saved = value[LEARNS]
        if _learns(now) and now.shape == saved.shape:
            with torch.no_grad():
                now.copy_(saved)
            return now
        return saved.requires_grad_()
    if type(value) in LISTS and len(value) <= CONTAINER_MAX:
        known = now if type(now) in LISTS and len(now) == len(value) else [None] * len(value)
        return type(value)(_joined(*each) for each in zip(known, value))
    if type(value) is dict and len(value) <= CONTAINER_MAX:
        return {key: _joined(now.get(key) if isinstance(now, dict) else None, each) for key, each in value.items()}
    return value


def _learns(value):
    return isinstance(value, Tensor) and value.requires_grad and value.is_leaf


def _put(owner, name, value):
    """In place where something else may see the same object."""
    now = vars(owner).get(name)
    if _has_own_state(now):
        tracking._restore(name, now, value)
        return
    value = _joined(now, value)
    if type(now) is list and type(value) is list:
        now[:] = value
    elif type(now) is type(value) and isinstance(now, dict):
        now.clear()
        now.update(value)
    else:
        setattr(owner, name, value)


class _TensorMark:
    def __init__(self, tensor):
        self._tensor, self._version = tensor, tensor._version

    def __eq__(self, other):
        return isinstance(other, _TensorMark) and self._tensor is other._tensor and self._version == other._version


def _mark(value):
    """Equal while the value is the same; of what has state_dict it never is."""
    if isinstance(value, Tensor):
        return _TensorMark(value)
    if generators.is_one(value):
        return generators.mark_of(value)
    if type(value) in DICTS + LISTS:
        if len(value) > CONTAINER_MAX:
            return id(value), len(value)
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return type(value), [(key, _mark(each)) for key, each in items]
    return (type(value), value) if type(value) in tracking.PLAIN_TYPES else object()
