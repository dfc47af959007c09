"""Making one batch, in a loader's process or in the worker's own."""

import signal

from torch.utils.data import IterableDataset

from espalier import generators
from espalier.parent import die_with_parent


class Fetch:
    """What PyTorch's loader takes for a data set: its items are batches, and its indices are plans of them."""

    def __init__(self, dataset, collate, position):
        self._dataset = dataset
        self._is_iterable = isinstance(dataset, IterableDataset)
        self.collate = collate
        self._position = position

    def __getitem__(self, plan):
        """(count of samples, batch) of (epoch, place, indices); None if there are no samples left. Leaves generators as they were."""
        epoch, place, indices = plan
        seed = self._position.seed
        samples = []
        with generators.put_back_cpu():
            indices = iter(indices)
            while True:
                generators.seed_for_sample(*seed, epoch, place + len(samples))
                index = next(indices, _NO_MORE)  # of an iterable data set it is the sample itself
                if index is _NO_MORE:
                    break
                samples.append(index if self._is_iterable else self._dataset[index])
            if not samples:
                return None
            generators.seed_for_sample(*seed, epoch, place, "collate")
            return len(samples), self.collate(samples)


_NO_MORE = object()


def prepare_process(_):
    """Of a loader: it dies with its parent, however that ends, and with its parent's request, which the worker itself ignores."""
    die_with_parent()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
