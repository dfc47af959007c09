"""Data that no study could make exact, and data that only looks so."""

import numpy
import torch
from small import SAMPLES, Points
from torch.utils.data import DataLoader, IterableDataset, WeightedRandomSampler

AT_THE_TOP = torch.Generator().manual_seed(1)


class OwnGenerator(Points):
    """Augmentation from a generator of the data set's own."""

    def __init__(self):
        super().__init__()
        self.rng = numpy.random.default_rng(1)

    def __getitem__(self, index):
        return self.points[index] + self.rng.random(dtype=numpy.float32), self.labels[index]


class GlobalGenerator(Points):
    def __getitem__(self, index):
        return self.points[index] + torch.rand((), generator=AT_THE_TOP), self.labels[index]


class ChangingItself(Points):
    def __getitem__(self, index):
        self.points[index] += 0.1
        return super().__getitem__(index)


class Counting(Points):
    reads = 0

    def __getitem__(self, index):
        self.reads += 1
        return super().__getitem__(index)


class Endless(IterableDataset):
    def __iter__(self):
        return iter(Points())


class Batches:
    def __iter__(self):
        return iter([[0, 1], [2, 3]])


LOADERS = {
    "own generator": lambda workers: DataLoader(OwnGenerator(), batch_size=8, num_workers=workers, persistent_workers=workers > 0),
    "global generator in data": lambda workers: DataLoader(GlobalGenerator(), batch_size=8, num_workers=workers),
    "data that changes itself": lambda workers: DataLoader(ChangingItself(), batch_size=8, num_workers=workers),
    "data that counts": lambda workers: DataLoader(Counting(), batch_size=8, num_workers=workers),
    "iterable": lambda workers: DataLoader(Endless(), batch_size=8),
    "batch sampler": lambda workers: DataLoader(Points(), batch_sampler=Batches()),
    "worker_init_fn": lambda workers: DataLoader(Points(), batch_size=8, worker_init_fn=print),
    "two loaders": lambda workers: [DataLoader(Points()), DataLoader(Points())],
    "persistent workers": lambda workers: DataLoader(Points(), batch_size=8, shuffle=True, num_workers=workers, persistent_workers=workers > 0),
    "own sampler": lambda workers: DataLoader(Points(), batch_size=8, num_workers=workers,
                                              sampler=WeightedRandomSampler(torch.rand(SAMPLES), 40)),  # fmt: skip
}
