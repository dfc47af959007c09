"""A loader of PyTorch's, as frameworks' users make them, becomes Espalier's: the same data set, sampler and collate_fn, in an order
that follows from seed and epoch, with a place that is saved. What could not be made exact is refused by name."""

from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, IterableDataset

from espalier import attributes, generators, loaders
from espalier.failure import TrainerError
from espalier.loader import ResumableLoader
from espalier.said import say_once
from espalier.untracked import Globals


DATA = "data"  # the key beside those of a position


class AdaptedLoader(ResumableLoader):
    """Refuses data that changes while it is read. What training itself changes in a data set holds from the next batch, and is saved with
    the place."""

    def __init__(self, dataset, collate_fn, **arguments):
        self._guard = _Guard(dataset, collate_fn)
        self._changes = attributes.of_data(dataset)
        super().__init__(dataset, collate_fn=self._guard, **arguments)

    def _next_batch(self):
        if self._guard.is_changed():
            self.drop_fetched()
            self._guard.accept()
        return super()._next_batch()

    def state_dict(self):
        return {**super().state_dict(), DATA: self._changes.state_dict()}

    def load_state_dict(self, saved):
        self._changes.load_state_dict(saved.get(DATA, {}))
        super().load_state_dict({key: value for key, value in saved.items() if key != DATA})


def adapted(loader, where, make=AdaptedLoader, **arguments):
    """`where`: what gave the loader, for messages. `arguments`: of `make`, besides. Raises TrainerError."""
    if not isinstance(loader, (DataLoader, ResumableLoader)):
        raise TrainerError(f"{where} gave {_name(loader)}: give one torch.utils.data.DataLoader")
    if isinstance(loader.dataset, IterableDataset):
        raise TrainerError(f"{where}: {_name(loader.dataset)} is an iterable data set, whose place cannot be saved: use one with a length "
                           "and __getitem__")  # fmt: skip
    if isinstance(loader, ResumableLoader):
        loaders.forget(loader)
        return make(loader.dataset, **loader.arguments(), **arguments)
    return make(loader.dataset, **_arguments_of(loader, where), **arguments)


def _arguments_of(loader, where):
    if loader.worker_init_fn is not None:
        raise TrainerError(f"{where}: worker_init_fn is not called: leave it out; generators are set before each sample")
    batches = loader.batch_sampler
    if type(batches) is not BatchSampler:
        raise TrainerError(f"{where}: {_name(batches)} makes batches of its own, whose size could not change: give sampler and batch_size")
    return {"batch_size": batches.batch_size, "sampler": batches.sampler, "drop_last": batches.drop_last, "collate_fn": loader.collate_fn,
            "num_workers": loader.num_workers, "pin_memory": loader.pin_memory, "prefetch_factor": loader.prefetch_factor}  # fmt: skip


class _Guard:
    """What collates samples, and then looks at the data set that they were read from."""

    def __init__(self, dataset, collate):
        self._collate = collate
        self._of_dataset = attributes.of_data(dataset)
        self._globals = Globals(dataset, collate)

    def accept(self):
        """Changes up to here were made by others."""
        self._of_dataset.accept()

    def is_changed(self):
        return any(True for _ in self._of_dataset.changed())

    def __call__(self, samples):
        self._globals.check()
        for path, name, value in self._of_dataset.changed():
            if generators.is_one(value):
                raise TrainerError(f"{path}.{name}: what a generator of the data set's own draws depends on who reads the data: draw from "
                                   "PyTorch's, NumPy's or Python's own, which are set before each sample")  # fmt: skip
            if isinstance(value, Tensor):
                raise TrainerError(f"{path}.{name} is changed in place while samples are read: what a sample is would depend on what was read before")
            say_once(f"{path}.{name} changes while samples are read: what a sample is must not depend on it")
        return self._collate(samples)


def _name(each):
    return type(each).__qualname__
