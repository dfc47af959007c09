"""A DataLoader whose place is part of the training's state: an epoch's order and the position in it are saved and taken up, and the
batch size may change in mid-epoch (the TreeML thesis, section 5.1).

Generators are set before each sample from (seed, epoch, place in the epoch's order), and before each collate from its first sample;
so the number of loader workers, and how many batches they fetch ahead, change nothing. A batch never spans an epoch's end."""

import itertools

import torch
from torch.utils.data import IterableDataset, RandomSampler, SequentialSampler, default_collate

from espalier import loader_processes, loaders
from espalier.failure import TrainerError
from espalier.fetch import Fetch, prepare_process
from espalier.position import Order, Stream, is_stateful
from espalier.progress import heartbeat
from espalier.said import say_once

TRIES_MAX = 3  # to make a batch, if processes die over it
# PyTorch's other arguments: its default, which says nothing, and what to do instead of giving another value.
REFUSED = {
    "batch_sampler": (None, "batches are made by batch_size, which may change from step to step: give sampler=..., and batch_size=..."),
    "generator": (None, "an epoch's order follows from the seed and the epoch: leave it out, and set the hyper-parameter seed"),
    "worker_init_fn": (None, "generators are set before each sample, whichever process reads it: leave it out, and prepare the data set in its __getitem__"),
    "persistent_workers": (False, "loader processes live for an epoch at most, and draw alike in every one: leave it out"),
    "timeout": (0, "processes that die are noticed, and a study's `hang_after` ends what hangs: leave it out"),
    "multiprocessing_context": (None, "loader processes are forked: leave it out"),
    "in_order": (True, "batches come in their order: leave it out"),
    "pin_memory_device": ("", "memory is pinned for the device that is in use: leave it out"),
}  # fmt: skip


class ResumableLoader:
    """`for batch in loader` gives the rest of the epoch under way, or the next epoch. Arguments are those of
    torch.utils.data.DataLoader; of those that are missing, all but their defaults are refused by name. A loader that is built again over the same data set, after Init, goes on where the other was.

    Data without a length (an IterableDataset, a sampler without `__len__`) must have state_dict and load_state_dict, and no
    loader workers: else TrainerError."""

    batches_an_update = 1  # more where gradients are accumulated; an epoch's last update may have fewer

    def __init__(self, dataset, batch_size=1, shuffle=False, sampler=None, num_workers=0, collate_fn=default_collate,
                 pin_memory=False, drop_last=False, prefetch_factor=None, **others):  # fmt: skip
        _check_others(others)
        self.dataset = dataset
        self.drop_last = drop_last
        collate_fn = collate_fn or default_collate
        self._settings = {"num_workers": num_workers, "pin_memory": pin_memory, "prefetch_factor": prefetch_factor}
        self._fetched, self._fetched_for = None, None
        self.samples_given = 0  # of the batch that was given last
        self._batches_of_update = 0
        self.batch_size = batch_size
        self.sampler = _sampler_of(dataset, shuffle, sampler)
        source = dataset if self.sampler is None else self.sampler
        has_length = source is not dataset and hasattr(source, "__len__")
        if not has_length:
            _check_stream(source, num_workers)
        make = Order if has_length else Stream
        self.position = loaders.position_of(self, type(source), lambda seed: make(source, seed))
        self._fetch = Fetch(dataset, collate_fn, self.position)

    def arguments(self):
        """Those that make another loader like this one, but for the data set."""
        return {"batch_size": self.batch_size, "sampler": self.sampler, "drop_last": self.drop_last, "collate_fn": self._fetch.collate,
                **self._settings}  # fmt: skip

    @property
    def batch_size(self):
        return self._batch_size

    @batch_size.setter
    def batch_size(self, batch_size):
        """Holds from the next batch: what was fetched ahead is dropped."""
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"a batch size is a whole number from 1, not {batch_size!r}")
        self._batch_size = batch_size
        self.drop_fetched()

    def __len__(self):
        """How many batches a whole epoch has. TypeError for a stream."""
        whole, rest = divmod(len(self.sampler), self._batch_size)
        return whole + (rest > 0 and not self.drop_last)

    @property
    def is_between_epochs(self):
        """Whether the batch that was given last was its epoch's last. Of a stream that is known only if the batch was smaller."""
        return self.position.place == 0

    @property
    def ends_update(self):
        """Whether the batch that was given last was its update's last."""
        return self._batches_of_update == 0

    def __iter__(self):
        loaders.note_use(self)
        batch = self._next_batch()
        if batch is None:  # what was left was dropped, or the stream was at its end
            batch = self._next_batch()
        while batch is not None:
            epoch = self._advance(batch)
            yield batch[1]
            if self.position.epoch != epoch:
                return
            batch = self._next_batch()

    def _next_batch(self):
        """(count of samples, batch), or None where the epoch ends."""
        heartbeat()
        position = self.position
        position.begin()
        batch = self._fetch_at(position)
        if batch is None or (self.drop_last and batch[0] < self._batch_size):
            self.position.end_epoch()
            self.drop_fetched()
            return None
        return batch

    def _fetch_at(self, position):
        """As _next_batch. A batch is a function of its place: if a process of the loader is killed, another makes it again, and
        nothing beyond, so that a sample which kills is found."""
        for plans_max in [None, *[1] * (TRIES_MAX - 1)]:
            if self._fetched is None or self._fetched_for != (position.epoch, position.place):
                plans = itertools.islice(position.plans(self._batch_size), plans_max)
                self._fetched = loader_processes.begin(self._loader(plans))
                self._fetched_for = (position.epoch, position.place)
            try:
                batch = next(self._fetched)
                if plans_max is not None:
                    self.drop_fetched()
                return batch
            except Exception as error:
                if not self._settings["num_workers"] or not loader_processes.tells_of_death(error):
                    raise
                say_once(f"a process that loads {_name(self.dataset)} was killed; its batches are made again")
                self.drop_fetched()
        raise TrainerError(f"processes that load {_name(self.dataset)} died {TRIES_MAX} times in epoch {position.epoch} at sample "
                           f"{position.place}: see whether the data there, or too little memory, kills them")  # fmt: skip

    def _advance(self, batch):
        """Goes on behind the batch. Returns the epoch that it was of."""
        epoch = self.position.epoch
        self.samples_given = batch[0]
        self.position.advance(batch[0], self._batch_size, self.drop_last)
        self._fetched_for = (self.position.epoch, self.position.place)
        self._batches_of_update += 1
        if self._batches_of_update >= self.batches_an_update or self.is_between_epochs:
            self._batches_of_update = 0
        if self.position.epoch != epoch:
            self.drop_fetched()
        return epoch

    def drop_fetched(self):
        """Ends the loader's processes; they begin anew, with the data set as it is then, where the next batch is wanted."""
        self._fetched = None

    def state_dict(self):
        return self.position.state_dict()

    def load_state_dict(self, saved):
        self.position.load_state_dict(saved)
        self._batches_of_update = 0
        self.drop_fetched()

    def _loader(self, plans):
        # Its own generator: else it would draw a seed from the global one.
        processes = {"multiprocessing_context": "fork", "worker_init_fn": prepare_process} if self._settings["num_workers"] else {}
        return torch.utils.data.DataLoader(self._fetch, batch_size=None, sampler=plans, collate_fn=_as_it_is,
                                           generator=torch.Generator(), **self._settings, **processes)  # fmt: skip


def batches(loader, updates):
    """One step's batches: the rest of the epoch, or the next one (`updates` is None), or so many, running over epochs' ends.
    Raises TrainerError for a loader of PyTorch's own, and for data without a batch."""
    if not isinstance(loader, ResumableLoader):
        raise TrainerError(f"batches(): {_name(loader)} is no loader of espalier; its place in the data could not be saved")
    done = 0
    while updates is None or done < updates:
        is_empty = True
        for batch in loader:
            is_empty = False
            done += loader.ends_update
            yield batch
            if done == updates:
                return
        if is_empty:
            raise TrainerError(f"an epoch of {_name(loader.dataset)} has no batch of {loader.batch_size} samples")
        if updates is None:
            return


def _sampler_of(dataset, shuffle, sampler):
    """None for an iterable data set."""
    if isinstance(dataset, IterableDataset):
        if shuffle or sampler is not None:
            raise TrainerError(f"{_name(dataset)}: an iterable data set has an order of its own; leave out shuffle and sampler")
        return None
    if sampler is None:
        return RandomSampler(dataset) if shuffle else SequentialSampler(dataset)
    if shuffle:
        raise TrainerError("a loader takes shuffle or a sampler, not both")
    return sampler


def _check_others(given):
    for name, value in given.items():
        if name not in REFUSED:
            raise TypeError(f"a loader has no argument {name!r}")
        usual, remedy = REFUSED[name]
        if value is not usual and value != usual:
            raise TrainerError(f"DataLoader({name}=...): {remedy}")


def _check_stream(source, num_workers):
    if not is_stateful(source):
        raise TrainerError(f"{_name(source)} has no length, and no state_dict and load_state_dict: its place could not be saved")
    if num_workers:
        raise TrainerError(f"{_name(source)} has no length: its loader takes num_workers=0, not {num_workers}")


def _name(each):
    return type(each).__qualname__


def _as_it_is(batch):
    return batch
