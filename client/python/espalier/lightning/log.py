"""What a module logs, gathered until it is asked for."""

import torch
from torchmetrics import Metric

from espalier.failure import TrainerError

SUMS, BESTS = ("mean", "sum"), {"min": torch.minimum, "max": torch.maximum}


class Log:
    """Name -> value. A mean is one over samples. A torchmetrics.Metric is asked for its value at the end, and then reset."""

    def __init__(self, module):
        self._module = module
        self.shown = {}  # what was logged when `show` was called last
        self.clear()

    def clear(self):
        self._values = {}  # name -> [how it is reduced, the value or its sum, weight]
        self._metrics = {}  # name -> path of the Metric in the module

    def add(self, name, value, weight, reduce):
        """`weight`: how many samples the value is of. `reduce`: as LightningModule.log takes it. Raises TrainerError."""
        if isinstance(value, Metric):
            self._metrics[name] = next(path for path, each in self._module.named_modules() if each is value)
            return
        how = reduce if isinstance(reduce, str) else getattr(reduce, "__name__", "")
        if how not in (*SUMS, *BESTS):
            raise TrainerError(f"log({name!r}, reduce_fx={reduce!r}): a logged value is reduced by mean, sum, min or max")
        value = torch.as_tensor(value, dtype=None if isinstance(value, torch.Tensor) else torch.get_default_dtype()).detach().clone()
        weighted = value * weight if how == "mean" else value
        if name in self._values:
            _, before, weights = self._values[name]
            weighted = before + weighted if how in SUMS else BESTS[how](before, weighted)
            weight += weights
        self._values[name] = [how, weighted, weight]

    def reduced(self):
        """Name -> value, of all that was logged since `clear`."""
        values = {name: value / weight if how == "mean" else value for name, (how, value, weight) in self._values.items()}
        return {**values, **{name: self._metric(path).compute() for name, path in self._metrics.items()}}

    def show(self):
        self.shown.update(self.reduced())

    def end(self):
        """An epoch is over: the next begins with nothing."""
        for path in self._metrics.values():
            self._metric(path).reset()
        self.clear()

    def _metric(self, path):
        return self._module.get_submodule(path)

    def state_dict(self):
        return {"values": self._values, "metrics": self._metrics, "shown": self.shown}

    def load_state_dict(self, saved):
        self._values, self._metrics, self.shown = saved["values"], saved["metrics"], saved["shown"]
