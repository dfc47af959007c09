"""The built-in trainers' networks in plain PyTorch. Parameters and buffers have the names that they have in a saved state."""

from torch import nn


class Mlp(nn.Module):
    def __init__(self, features, classes, hidden=128):
        super().__init__()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, classes)

    def forward(self, inputs):
        return self.last(self.second(self.first(inputs.flatten(1)).relu()).relu())
