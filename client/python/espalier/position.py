"""Where a loader is in its data. Data with a length: an epoch's order, drawn whole, and how much of it was taken. A stream, which has
none: how far it was read, as the stream itself says.

What is drawn for a sample follows from (seed, number of the loader, epoch, place), never from what was drawn before it."""

import itertools

import torch

from espalier import generators


class Order:
    """Data with a length. `place`: how many samples of the epoch were taken. `order`: the indices of the epoch under way, or None
    between epochs, when the next one's is not drawn yet."""

    def __init__(self, sampler, seed):
        self._sampler = sampler
        self.seed = seed
        self.epoch, self.place, self.order = 0, 0, None

    def begin(self):
        """Draws the epoch's order, if none is under way."""
        if self.order is None:
            with generators.put_back_cpu():
                generators.seed_for_sample(*self.seed, self.epoch, "order")
                self.order = torch.tensor(list(self._sampler), dtype=torch.int64)

    def plans(self, batch_size):
        """(epoch, place, indices) of each batch that the epoch still has; the last may be smaller."""
        epoch, order = self.epoch, self.order
        for place in range(self.place, len(order), batch_size):
            yield epoch, place, order[place : place + batch_size].tolist()

    def advance(self, count, batch_size, drop_last):
        """`count` samples were taken; the epoch ends with the last, or with the last whole batch."""
        self.place += count
        left = len(self.order) - self.place
        if left < (batch_size if drop_last else 1):
            self.end_epoch()

    def end_epoch(self):
        self.epoch, self.place, self.order = self.epoch + 1, 0, None

    def state_dict(self):
        return {"seed": list(self.seed), "epoch": self.epoch, "place": self.place, "order": self.order,
                "sampler": _state_of(self._sampler)}  # fmt: skip

    def load_state_dict(self, saved):
        self.seed = tuple(saved["seed"])
        self.epoch, self.place, self.order = saved["epoch"], saved["place"], saved["order"]
        _load_into(self._sampler, saved["sampler"])

    def fresh(self):
        """The state at the beginning of epoch 0."""
        return {"seed": list(self.seed), "epoch": 0, "place": 0, "order": None, "sampler": _state_of(self._sampler)}


class Stream:
    """`source`: an iterable data set, or a sampler without a length; it has state_dict and load_state_dict, and goes on from
    there when it is iterated after load_state_dict. That an epoch is over is known only when it has nothing more."""

    def __init__(self, source, seed):
        self._source = source
        self.seed = seed
        self.epoch, self.place = 0, 0
        self.iterator = None
        self._fresh = self.state_dict()

    def begin(self):
        if self.iterator is None:
            self.iterator = iter(self._source)

    def plans(self, batch_size):
        """(epoch, place, an iterator over what the batch is made of), without end."""
        while True:
            yield self.epoch, self.place, itertools.islice(self.iterator, batch_size)

    def advance(self, count, batch_size, drop_last):
        self.place += count
        if count < batch_size:
            self.end_epoch()

    def end_epoch(self):
        self.epoch, self.place, self.iterator = self.epoch + 1, 0, None

    def state_dict(self):
        return {"seed": list(self.seed), "epoch": self.epoch, "place": self.place, "source": self._source.state_dict(),
                "begun": self.iterator is not None}  # fmt: skip

    def load_state_dict(self, saved):
        self.seed = tuple(saved["seed"])
        self.epoch, self.place = saved["epoch"], saved["place"]
        self._source.load_state_dict(saved["source"])
        self.iterator = iter(self._source) if saved["begun"] else None

    def fresh(self):
        return self._fresh


def is_stateful(source):
    return hasattr(source, "state_dict") and hasattr(source, "load_state_dict")


def _state_of(sampler):
    """What a sampler keeps between epochs: its own state, or that of its generator."""
    if is_stateful(sampler):
        return sampler.state_dict()
    generator = getattr(sampler, "generator", None)
    return generator.get_state() if generator is not None else None


def _load_into(sampler, saved):
    if is_stateful(sampler):
        sampler.load_state_dict(saved)
    elif saved is not None:
        sampler.generator.set_state(saved)
