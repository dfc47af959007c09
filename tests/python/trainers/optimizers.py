"""Small once more, with the optimizers that want to be called otherwise, and with options that change beside the learning rate."""

import torch
from small import Small, Tied
from torch import nn

import espalier as es


class ByClosure(Small):
    """LBFGS wants the loss several times."""

    def make_optimizer(self, hp):
        return torch.optim.LBFGS(self.model.parameters(), lr=hp["lr"], max_iter=3, history_size=2)

    def update(self, points, labels):
        def loss():
            self.optimizer.zero_grad()
            result = nn.functional.cross_entropy(self.model(points + 0.1 * torch.randn(())), labels)
            result.backward()
            return result

        return self.optimizer.step(loss).detach()


class OfMatrices(Small):
    """Muon takes matrices alone; SGD has the rest."""

    def make_optimizer(self, hp):
        of_matrices = [each.ndim == 2 for each in self.model.parameters()]
        matrices, others = ([each for each, is_one in zip(self.model.parameters(), of_matrices) if is_one is wanted] for wanted in (True, False))
        self.rest = torch.optim.SGD(others, lr=hp["lr"], momentum=0.9)
        return torch.optim.Muon(matrices, lr=hp["lr"])

    def track_all(self):
        super().track_all()
        self.track(self.rest)

    def update(self, points, labels):
        self.rest.zero_grad()
        loss = super().update(points, labels)
        self.rest.step()
        return loss


class Cells(Tied):
    """What is learnt for the cell of the plane that a point lies in, in an embedding with sparse gradients."""

    def __init__(self):
        super().__init__()
        self.of_cell = nn.Embedding(16, 4, sparse=True)

    def forward(self, x):
        cells = ((x > 0) * torch.tensor([1, 2, 4, 8])).sum(dim=1)
        return super().forward(x) + self.of_cell(cells)[:, :2]


class OfSparse(OfMatrices):
    def make_optimizer(self, hp):
        self.model = Cells()
        self.rest = torch.optim.SGD([each for name, each in self.model.named_parameters() if "of_cell" not in name], lr=hp["lr"])
        return torch.optim.SparseAdam(self.model.of_cell.parameters(), lr=hp["lr"])


class Options(Small):
    """Whatever the optimizer has of these."""

    hyper_parameters = {
        **Small.hyper_parameters,
        "momentum": es.sequence(float, default=0.9),
        "weight_decay": es.sequence(float, default=0.01),
    }

    def make_optimizer(self, hp):
        return getattr(torch.optim, hp["optimizer"])(self.model.parameters(), lr=hp["lr"], momentum=hp["momentum"], weight_decay=hp["weight_decay"])

    def evaluate(self):
        group = self.optimizer.param_groups[0]
        return {**super().evaluate(), "momentum": group["momentum"], "weight_decay": group["weight_decay"]}
