"""Trainers that can be cut, and others that cannot, each by one mistake that people make: for test_trainer_check.py."""

import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

import espalier as es

SAMPLES = 60
COUNTS = {"steps": 0}
NOISE = torch.Generator()


class Sound(es.Trainer):
    hyper_parameters = {"lr": es.sequence(float, default=0.05), "bs": es.sequence(int, default=8)}
    metrics = ["test_loss"]
    version = "1"
    data = "made up"

    def init(self, hp):
        self.points = torch.randn(SAMPLES, 4)
        self.labels = (self.points.sum(dim=1) > 0).long()
        self.model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=hp["lr"], momentum=0.9)
        self.make_loader(hp["bs"])
        self.begin(hp)

    def make_loader(self, batch_size):
        self.loader = es.DataLoader(TensorDataset(self.points, self.labels), batch_size=batch_size, shuffle=True)

    def begin(self, hp):
        self.track(self.model, self.optimizer, self.loader)

    def train(self):
        self.model.train()
        losses, samples = [], 0
        for points, labels in self.batches_of_a_step():
            self.optimizer.zero_grad()
            loss = self.loss(points, labels)
            loss.backward()
            self.optimizer.step()
            losses.append(float(loss.detach()) * len(labels))
            samples += len(labels)
        return {"loss": sum(losses) / samples, "samples": samples}

    def batches_of_a_step(self):
        return self.batches(self.loader)

    def loss(self, points, labels):
        return nn.functional.cross_entropy(self.model(points), labels)

    def evaluate(self):
        self.model.eval()
        return self.measured()

    def measured(self):
        with torch.no_grad():
            return {"test_loss": nn.functional.cross_entropy(self.model(self.points), self.labels)}


class Hashes(Sound):
    """Sound, since texts have the same hash in every process."""

    def loss(self, points, labels):
        return super().loss(points, labels) * (1 + hash("loss") % 1000 / 1000)


class WithoutOptimizer(Sound):
    def begin(self, hp):
        self.track(self.model, self.loader)

    def setup(self, changed):
        self.optimizer.param_groups[0]["lr"] = changed.get("lr", self.optimizer.param_groups[0]["lr"])
        self.loader.batch_size = changed.get("bs", self.loader.batch_size)


class WithoutCounter(Sound):
    def begin(self, hp):
        super().begin(hp)
        self.count = 0

    def loss(self, points, labels):
        self.count += 1
        return super().loss(points, labels) * min(1.0, 0.1 * self.count)


class OwnGenerator(Sound):
    def begin(self, hp):
        super().begin(hp)
        NOISE.manual_seed(hp["seed"])

    def loss(self, points, labels):
        return super().loss(points + 0.1 * torch.randn(points.shape, generator=NOISE), labels)


class RebuiltLoader(Sound):
    """PyTorch's loader, whose place is kept from step to step, and which is built again where the batch size changes."""

    def begin(self, hp):
        self.track(self.model, self.optimizer)

    def make_loader(self, batch_size):
        self.loader = DataLoader(TensorDataset(self.points, self.labels), batch_size=batch_size)
        self.batches_left = iter(self.loader)

    def setup(self, changed):
        self.set_values({name: value for name, value in changed.items() if name != "bs"})
        if changed.get("bs", self.loader.batch_size) != self.loader.batch_size:
            self.make_loader(changed["bs"])

    def batches_of_a_step(self):
        return [next(self.batches_left)]


class Augmented(Dataset):
    def __init__(self, points, labels):
        self.points, self.labels = points, labels

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.points[index] + 0.1 * torch.randn(4), self.labels[index]


class PersistentWorkers(RebuiltLoader):
    """Whole epochs of PyTorch's loader, whose workers live on and draw on from epoch to epoch."""

    def make_loader(self, batch_size):
        self.loader = DataLoader(Augmented(self.points, self.labels), batch_size=batch_size, num_workers=1, persistent_workers=True)

    def batches_of_a_step(self):
        return self.loader


class DataInPlace(Sound):
    def train(self):
        self.points.mul_(0.9)
        return super().train()


class StaleRate(Sound):
    """A new rate holds from the step after the next, but for the first step of a process, which has that of step 0."""

    def begin(self, hp):
        super().begin(hp)
        self.rate = self.next_rate = hp["lr"]

    def setup(self, changed):
        self.next_rate = changed.get("lr", self.next_rate)
        self.loader.batch_size = changed.get("bs", self.loader.batch_size)

    def train(self):
        self.optimizer.param_groups[0]["lr"] = self.rate
        metrics = super().train()
        self.rate = self.next_rate
        return metrics


class EvaluatesInTrainingMode(Sound):
    def evaluate(self):
        return self.measured()


class DrawsToEvaluate(OwnGenerator):
    def measured(self):
        torch.rand((), generator=NOISE)
        return super().measured()


class LeavesSomething(Sound):
    """Counts on from one training to the next."""

    def loss(self, points, labels):
        COUNTS["steps"] += 1
        return super().loss(points, labels) * min(1.0, 0.1 * COUNTS["steps"])


class Unrepeatable(Sound):
    def loss(self, points, labels):
        return super().loss(points, labels) * (1 + os.urandom(1)[0] / 256)


class ForgetsToLoad(Sound):
    """An optimizer that is saved, and not loaded."""

    class Adam(torch.optim.Adam):
        def load_state_dict(self, saved):
            pass

    def init(self, hp):
        super().init(hp)

    def begin(self, hp):
        self.optimizer = self.Adam(self.model.parameters(), lr=hp["lr"])
        super().begin(hp)


class DislikesLargeBatches(Sound):
    def setup(self, changed):
        if changed.get("bs", 8) > 8:
            raise ValueError("a batch of more than 8 is too large")
        super().setup(changed)


class Fails(Sound):
    def evaluate(self):
        raise LookupError("there is no such measure")
