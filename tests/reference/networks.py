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


class Block(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.stride, self.added = (1, 0) if before == after else (2, after - before)
        self.conv1 = nn.Conv2d(before, after, 3, self.stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)

    def forward(self, inputs):
        inner = self.bn2(self.conv2(self.bn1(self.conv1(inputs)).relu()))
        shortcut = inputs[:, :, :: self.stride, :: self.stride]
        return (inner + nn.functional.pad(shortcut, (0, 0, 0, 0, self.added // 2, self.added // 2))).relu()


class ResNet(nn.Module):
    def __init__(self, depth, channels, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        count = (depth - 2) // 6
        widths = [16] * (count + 1) + [32] * count + [64] * count
        self.blocks = nn.Sequential(*(Block(before, after) for before, after in zip(widths, widths[1:])))
        self.last = nn.Linear(64, classes)

    def forward(self, inputs):
        return self.last(self.blocks(self.bn1(self.conv1(inputs)).relu()).mean((2, 3)))
