"""What a trainer tracks, under the names of its attributes, and how each kind of object is captured and restored."""

import torch
from torch import nn
from torch.optim import Optimizer

from espalier import generators, module, optimizer
from espalier.failure import TrainerError

PLAIN_TYPES = (bool, int, float, str, bytes, type(None))


class Tracked:
    """Key -> object, in the order in which they were tracked. `attributes`: a trainer's `__dict__`. What is tracked under an
    attribute's name is what the attribute is now, also after it was replaced."""

    def __init__(self, attributes):
        self._attributes = attributes
        self._given = {}  # key -> object, or _ATTRIBUTE
        self._plain = set()  # keys of attributes that are plain values

    def add(self, objects, named, scope):
        """Tracks `objects` under the names that they have in `scope`. Raises TrainerError for one that has none, and for a name
        that is taken."""
        for each in objects:
            name = next((name for name, value in scope.items() if value is each), None)
            if name is None:
                raise TrainerError(f"track(): no attribute or variable is this {type(each).__name__}: name it, track(name=...)")
            self._add(name, each)
        for name, each in named.items():
            self._add(name, each)

    def add_attributes(self, names):
        for name in names:
            if name not in self._attributes:
                raise TrainerError(f"track_attributes({name!r}): there is no such attribute")
            self._add(name, self._attributes[name])
            self._plain.add(name)

    def _add(self, name, each):
        if name in self._given and self[name] is not each:
            raise TrainerError(f"track(): {name} is tracked already")
        self._given[name] = _ATTRIBUTE if self._attributes.get(name, _ATTRIBUTE) is each else each

    def __getitem__(self, key):
        given = self._given[key]
        return self._attributes[key] if given is _ATTRIBUTE else given

    def names(self):
        return self._given.keys()

    def objects(self):
        """(key, object) of all objects, those in lists and dicts too."""
        for key in self._given:
            if key not in self._plain:
                yield from _within(key, self[key])

    def of_type(self, kind):
        return [each for _, each in self.objects() if isinstance(each, kind)]

    def capture(self):
        """A tree that espalier.state can flatten, if what is tracked is right. Raises TrainerError, which names the key."""
        return {key: self[key] if key in self._plain else _capture(key, self[key]) for key in self._given}

    def restore(self, saved):
        """Raises ValueError or KeyError for the state of another trainer."""
        if saved.keys() != self._given.keys():
            raise ValueError(f"the state holds {', '.join(saved)}; the trainer tracks {', '.join(self._given)}")
        for key, value in saved.items():
            if key in self._plain:
                self._attributes[key] = value
            else:
                _restore(key, self[key], value)


_ATTRIBUTE = object()


def _is_stateful(each):
    return callable(getattr(each, "state_dict", None)) and callable(getattr(each, "load_state_dict", None))


def _is_plain(each):
    """Also of a container that holds nothing with a state of its own: its content is replaced, and it stays itself."""
    if isinstance(each, (list, tuple, dict)):
        return all(_is_plain(element) for element in _elements(each).values())
    return isinstance(each, PLAIN_TYPES)


def _elements(container):
    return container if isinstance(container, dict) else dict(enumerate(container))


def _within(key, each):
    if isinstance(each, (list, tuple, dict)):
        for name, element in _elements(each).items():
            yield from _within(f"{key}.{name}", element)
    else:
        yield key, each


def _capture(key, each):
    if isinstance(each, nn.Module):
        return module.capture(each)
    if isinstance(each, Optimizer):
        return optimizer.capture(each)
    if isinstance(each, torch.Tensor):
        return each
    if generators.is_one(each):
        return generators.capture_one(each)
    if _is_stateful(each):
        return each.state_dict()
    if isinstance(each, (list, dict)) and _is_plain(each):
        return each
    if isinstance(each, (list, tuple, dict)):
        return {name: _capture(f"{key}.{name}", element) for name, element in _elements(each).items()}
    raise TrainerError(f"{key} is of type {type(each).__qualname__}: track() takes modules, optimizers, loaders, generators, tensors, "
                       "what has state_dict and load_state_dict, and lists and dicts of those; for plain values there is "
                       "track_attributes()")  # fmt: skip


def _restore(key, each, saved):
    if isinstance(each, nn.Module):
        module.restore(each, saved)
    elif isinstance(each, Optimizer):
        optimizer.restore(each, saved)
    elif isinstance(each, torch.Tensor):
        module.overwrite(key, each, saved)
    elif generators.is_one(each):
        generators.restore_one(each, saved)
    elif _is_stateful(each):
        each.load_state_dict(saved)
    elif isinstance(each, list) and _is_plain(each):
        each[:] = saved
    elif isinstance(each, dict) and _is_plain(each):
        each.clear()
        each.update(saved)
    else:
        for name, element in _elements(each).items():
            _restore(f"{key}.{name}", element, saved[name])
