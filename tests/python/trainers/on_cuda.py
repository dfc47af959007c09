"""Small once more, on the first GPU, with a convolution, and with draws from the GPU's generator."""

import torch
from small import SAMPLES, Points, Small, Tied
from torch import nn

import espalier as es


class Convolved(Tied):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv1d(1, 4, 3, padding=1)

    def forward(self, x):
        return super().forward(self.convolution(x.unsqueeze(1)).mean(dim=1))


class OnCuda(Small):
    def make_optimizer(self, hp):
        self.model = Convolved().cuda()
        return super().make_optimizer(hp)

    def update(self, points, labels):
        return super().update(points.cuda() + 0.1 * torch.randn(4, device="cuda"), labels.cuda())

    def evaluate(self):
        self.model.eval()
        with torch.no_grad():
            points, labels = next(iter(es.ResumableLoader(Points(), batch_size=SAMPLES)))
            return {"loss": nn.functional.cross_entropy(self.model(points.cuda()), labels.cuda()), "drawn": torch.rand((), device="cuda")}
