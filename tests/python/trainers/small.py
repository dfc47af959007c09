"""A small network on made-up data, in the class form: everything that a state must hold is in use."""

import random

import numpy
import torch
from torch import nn

import espalier as es

SAMPLES = 60


def drawn():
    """From each generator."""
    return float(torch.rand(())) + random.random() + numpy.random.rand()


class Points(torch.utils.data.Dataset):
    """Points in the plane, moved at random whenever they are read."""

    def __init__(self):
        generator = torch.Generator().manual_seed(7)
        self.points = torch.randn(SAMPLES, 4, generator=generator)
        self.labels = (self.points.sum(dim=1) > 0).long()

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        noise = 0.1 * torch.randn(4) + 0.1 * random.random() + 0.1 * float(numpy.random.rand())
        return self.points[index] + noise, self.labels[index]


class Tied(nn.Module):
    """Batch norm, dropout, and two layers with one weight."""

    def __init__(self, dropout=0.2):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.dropout = nn.Dropout(dropout)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.second(self.dropout(torch.tanh(self.norm(self.first(x))))))


class Small(es.Trainer):
    hyper_parameters = {
        "lr": es.sequence(float, default=0.05),
        "bs": es.sequence(int, default=8),
        "optimizer": es.initial(str, default="SGD"),
        "workers": es.initial(int, default=0),
        "prefetch": es.initial(int, default=2),
        "frozen_norm": es.initial(bool, default=False),
    }
    metrics = ["loss"]
    version = "1"
    data = "made up"

    def init(self, hp):
        self.model = Tied()
        self.optimizer = self.make_optimizer(hp)
        self.loader = self.make_loader(hp)
        self.seen = 0
        if hp["frozen_norm"]:
            self.model.norm.eval()
            self.model.norm.weight.requires_grad_(False)
        self.track_all()

    def track_all(self):
        self.track(self.model, self.optimizer, self.loader)
        self.track_attributes("seen")

    def make_loader(self, hp):
        ahead = {"prefetch_factor": hp.get("prefetch", 2)} if hp["workers"] else {}
        return es.ResumableLoader(Points(), batch_size=hp["bs"], shuffle=True, num_workers=hp["workers"], **ahead)

    def make_optimizer(self, hp):
        options = {"momentum": 0.9, "nesterov": True} if hp["optimizer"] == "SGD" else {}
        return getattr(torch.optim, hp["optimizer"])(self.model.parameters(), lr=hp["lr"], **options)

    def train(self):
        losses = []
        for points, labels in self.batches(self.loader):
            loss = self.update(points, labels)
            losses.append(float(loss) * len(labels))
            self.seen += len(labels)
        return {"loss": sum(losses) / self.seen, "samples": len(losses), "drawn": drawn()}

    def update(self, points, labels):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(points + 0.1 * torch.randn(())), labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def evaluate(self):
        self.model.eval()
        with torch.no_grad():
            points, labels = next(iter(es.ResumableLoader(Points(), batch_size=SAMPLES)))
            return {"loss": nn.functional.cross_entropy(self.model(points), labels), "drawn": drawn()}
