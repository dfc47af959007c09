"""The loaders of the training under way: which goes on where another was, and what Evaluate puts back.

One training at a time in a process. Outside of trainings (`begin` was not called) every loader stands for itself."""

import contextlib
import weakref

import torch

from espalier.failure import TrainerError


class _Loaders:
    def __init__(self):
        self.positions = []  # (data set, kind of order, position)
        self.all = weakref.WeakSet()
        self.read = []  # positions that training has read
        self.are_made = False  # Init is over
        self.set_aside = None  # in Evaluate: position -> (a loader that is there, its state before)


_current = None


def begin():
    """A training begins, in Init: forgets the loaders of another, and ends their processes."""
    global _current
    drop_fetched()
    _current = _Loaders()


def end_init():
    _current.are_made = True


def position_of(loader, kind, make):
    """A new loader's position: in a training, that of the loader which it replaces. `kind`: how it orders the data set.
    `make`: (seed, number of the loader) -> a new one."""
    seed = torch.initial_seed()
    if _current is None or _current.set_aside is not None:
        return make((seed, 0))
    same = [position for dataset, each, position in _current.positions if dataset is loader.dataset and each == kind]
    if _current.are_made and len(same) > 1:
        raise TrainerError(f"there are {len(same)} loaders over this {type(loader.dataset).__qualname__}, so which one is built again is "
                           "unknown: set loader.batch_size instead")  # fmt: skip
    _current.all.add(loader)
    if _current.are_made and same:
        return same[0]
    position = make((seed, len(_current.positions)))
    _current.positions.append((loader.dataset, kind, position))
    return position


def forget(loader):
    """A loader that Init has replaced is never read."""
    if _current is not None and not _current.are_made:
        _current.all.discard(loader)
        _current.positions = [each for each in _current.positions if each[2] is not loader.position]


def note_use(loader):
    """A loader is being read. In Evaluate it begins its data anew, wherever training stands."""
    if _current is None or loader not in _current.all:
        return
    if _current.set_aside is None:
        if loader.position not in _current.read:
            _current.read.append(loader.position)
    elif loader.position not in _current.set_aside:
        _current.set_aside[loader.position] = loader, loader.state_dict()
        loader.load_state_dict(loader.position.fresh())


def read_by_training():
    """Positions of loaders that were read outside of Evaluate."""
    return _current.read


@contextlib.contextmanager
def put_back():
    """Around Evaluate: loaders that are read inside go on afterwards as if they had not been."""
    _current.set_aside = {}
    try:
        yield
    finally:
        set_aside, _current.set_aside = _current.set_aside, None
        for loader, state in set_aside.values():
            loader.load_state_dict(state)


def drop_fetched():
    """After Setup, which may have changed the data sets: what was fetched ahead would be of the old ones."""
    for loader in _current.all if _current else ():
        loader.drop_fetched()
