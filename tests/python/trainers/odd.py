"""Trainers that go wrong, and ones that do odd things rightly."""

import math
import os
import sys

import torch
from small import Points, Small
from torch import nn

import espalier as es
from espalier import progress


class Odd(es.Trainer):
    """Says what it was given, and fails as it is told to."""

    hyper_parameters = {
        "large": es.initial(int, default=2**63 - 1),
        "tenth": es.initial(float, default=0.1),
        "text": es.sequence(str, default="é"),
        "failure": es.sequence(str, default=""),
    }

    def init(self, hp):
        self.hp = hp
        self.weights = torch.zeros(3)
        self.track(self.weights)

    def setup(self, changed):
        self.hp.update(changed)

    def train(self):
        if self.hp["failure"] == "error":
            raise LookupError("there is no such word")
        if self.hp["failure"] == "enough":
            raise es.Finished("no word is left")
        if self.hp["failure"] == "exit":
            sys.exit("enough")
        if self.hp["failure"] == "die":
            os._exit(7)
        if self.hp["failure"] == "memory":
            torch.empty(2**60)
        if self.hp["failure"] == "device":
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        if self.hp["failure"] == "long":
            self.be_long()
        if self.hp["failure"] == "metrics":
            return {"loss": 1.0}
        self.weights += 1
        return {"loss": math.nan, "samples": 1, "rise": math.inf, "fall": -math.inf, "same": self.hp["large"] == 2**63 - 1,
                "tenth": self.hp["tenth"]}  # fmt: skip

    def be_long(self):
        """Three hours, by a clock of its own."""
        real, self.hours = progress.time.monotonic, 0
        progress.time.monotonic = lambda: real() + 3600 * self.hours
        try:
            for self.hours in (1, 1, 2):
                es.heartbeat()
        finally:
            progress.time.monotonic = real

    def evaluate(self):
        if self.hp["failure"] == "evaluate":
            torch.manual_seed(9)
            raise LookupError("there is no such measure")
        return {"sum": self.weights.sum(), "drawn": torch.rand(())}


class Untrackable(Odd):
    def init(self, hp):
        super().init(hp)
        self.things = {"counter": print}
        self.track(self.things)


class ScheduledTwice(Small):
    """Both the scheduler and the hyper-parameter lr."""

    def track_all(self):
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 1)
        self.track(self.scheduler)
        super().track_all()


class ScheduledTwiceByOtherNames(ScheduledTwice):
    hyper_parameters = {"rate": es.sequence(float, default=0.05)}

    def init(self, hp):
        super().init({**hp, "lr": hp["rate"], "bs": 8, "optimizer": "SGD", "workers": 0, "frozen_norm": False})

    def setup(self, changed):
        self.optimizer.param_groups[0]["lr"] = changed["rate"]


class Untracked(Small):
    def track_all(self):
        self.head = nn.Linear(1, 1)
        self.table = torch.zeros(1)
        self.criterion = nn.CrossEntropyLoss()
        self.track(self.model, self.optimizer)

    def setup(self, changed):
        pass

    def train(self):
        for _ in self.loader:
            pass
        return {"loss": 0, "samples": 60}


class NotTakenByAnything(Small):
    hyper_parameters = {**Small.hyper_parameters, "warmth": es.sequence(float, default=1.0)}


class Groups(Small):
    """Parameter groups of which one learns at a tenth, and one does not decay."""

    hyper_parameters = {**Small.hyper_parameters, "weight_decay": es.sequence(float, default=0.01)}

    def make_optimizer(self, hp):
        first, norm, *rest = self.model.children()
        groups = [
            {"params": first.parameters(), "lr": hp["lr"] / 10},
            {"params": norm.parameters(), "weight_decay": 0.0},
            {"params": self.model.last.parameters()},
        ]
        return torch.optim.SGD(groups, lr=hp["lr"], weight_decay=hp["weight_decay"])

    def evaluate(self):
        groups = self.optimizer.param_groups
        return {"loss": 0, **{f"{name}{index}": group[name] for index, group in enumerate(groups) for name in ("lr", "weight_decay")}}


class Slow(Points):
    """Says which processes read it; the second half never comes."""

    def __getitem__(self, index):
        if index >= 30:
            os.read(os.open(os.environ["NEVER"], os.O_RDWR), 1)
        return super().__getitem__(index)


class Stuck(Small):
    def make_loader(self, hp):
        return es.ResumableLoader(Slow(), batch_size=10, num_workers=2)
