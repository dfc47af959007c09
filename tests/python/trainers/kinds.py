"""More of what trainers track: two optimizers and a scheduler, several loaders, data without a length."""

import random

import numpy
import torch
from small import Points, Small
from torch import nn

import espalier as es


class TwoOptimizers(Small):
    """Beside the model a second one with an optimizer and a scheduler of its own, and a generator of its own."""

    hyper_parameters = {"bs": es.sequence(int, default=8)}

    def init(self, hp):
        super().init({**hp, "optimizer": "Adam", "lr": 0.01, "frozen_norm": False, "workers": 0})

    def track_all(self):
        self.other = nn.Linear(4, 2)
        self.optimizers = [self.optimizer, torch.optim.SGD(self.other.parameters(), lr=0.1, momentum=0.5)]
        self.schedules = {
            "cosine": torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizers[0], 10),
            "steps": torch.optim.lr_scheduler.MultiStepLR(self.optimizers[1], [4, 8, 8], 0.5),
            "plateau": torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizers[1], patience=1),
        }
        self.generator = torch.Generator().manual_seed(3)
        self.random = random.Random(3)
        self.numpy_random, self.old_random = numpy.random.default_rng(3), numpy.random.RandomState(3)
        self.mean = torch.zeros(2)
        self.track(self.random, self.numpy_random, self.old_random)
        self.counts = {"updates": 0}
        self.track(self.model, self.loader, self.optimizers, self.schedules, self.generator, self.mean, self.counts)
        self.track(head=self.other)
        self.track_attributes("seen")

    def update(self, points, labels):
        loss = super().update(points, labels)
        output = self.other(points + torch.randn(4, generator=self.generator))
        other_loss = nn.functional.cross_entropy(output, labels)
        self.optimizers[1].zero_grad()
        other_loss.backward()
        self.optimizers[1].step()
        self.mean.lerp_(output.detach().mean(dim=0), 0.1)
        self.counts["updates"] += 1
        self.mean += self.random.random() + float(self.numpy_random.random()) + float(self.old_random.rand())
        self.schedules["cosine"].step()
        self.schedules["steps"].step()
        self.schedules["plateau"].step(float(other_loss.detach()))
        return loss + other_loss.detach() + self.mean.sum()

    def evaluate(self):
        own = torch.rand((), generator=self.generator) + self.random.random() + self.numpy_random.random() + self.old_random.rand()
        return {**super().evaluate(), "own": own}


class Rebuilt(Small):
    """As figure 5.1 of the TreeML thesis: setup builds the loader anew."""

    def make_loader(self, hp):
        self.points = Points()

    def track_all(self):
        self.track(self.model, self.optimizer)
        self.track_attributes("seen")

    def setup(self, changed):
        if "lr" in changed:
            for group in self.optimizer.param_groups:
                group["lr"] = changed["lr"]
        if "bs" in changed:
            is_first = self.loader is None
            self.loader = es.DataLoader(self.points, batch_size=changed["bs"], shuffle=True)
            if is_first:
                self.track(self.loader)


class Countdown(torch.utils.data.IterableDataset):
    """Samples without an order of their own, in a stream of 60."""

    def __init__(self):
        self.points = Points()
        self.given = 0

    def __iter__(self):
        while self.given < len(self.points):
            self.given += 1
            yield self.points[self.given - 1]
        self.given = 0

    def state_dict(self):
        return {"given": self.given}

    def load_state_dict(self, saved):
        self.given = saved["given"]


class Streamed(Small):
    def make_loader(self, hp):
        return es.ResumableLoader(Countdown(), batch_size=hp["bs"])


class Warmed(Small):
    """Training itself writes an option that a hyper-parameter writes, too."""

    def update(self, points, labels):
        for group in self.optimizer.param_groups:
            group["lr"] *= 0.99
        return super().update(points, labels)


class NeverZeroed(Small):
    """Gradients are added up, for as long as they last."""

    def update(self, points, labels):
        loss = nn.functional.cross_entropy(self.model(points), labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class Shifted(Small):
    """A hyper-parameter of the data set, in mid-epoch, with loader workers that fetch ahead."""

    hyper_parameters = {**Small.hyper_parameters, "shift": es.sequence(float, default=0.0)}

    def make_loader(self, hp):
        self.points = Points()
        return es.ResumableLoader(self.points, batch_size=hp["bs"], shuffle=True, num_workers=2)

    def setup(self, changed):
        if "shift" in changed:
            self.points.points = self.points.points + changed["shift"]


class Thawed(Small):
    """A layer that is frozen at first, and thawed by training; and a module with state of its own kind."""

    def init(self, hp):
        super().init(hp)
        self.model.last.requires_grad_(False)
        self.model.register_buffer("mean", torch.zeros(4), persistent=False)
        self.model.count = Count()

    def train(self):
        self.model.count.count += 1
        if self.model.count.count == 2:
            self.model.last.requires_grad_(True)
        return super().train()

    def update(self, points, labels):
        self.model.mean += points.mean(dim=0)
        return super().update(points - self.model.mean, labels)


class Count(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, saved):
        self.count = saved["count"]
