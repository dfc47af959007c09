"""The built-in trainers' networks in plain PyTorch. Parameters and buffers have the names that they have in a saved state."""

import torch
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


def widened(channels, width):
    wanted = channels * width
    nearest = max(8, int(wanted + 4) // 8 * 8)
    return nearest + 8 if nearest < 0.9 * wanted else nearest


class ConvUnit(nn.Module):
    def __init__(self, before, after, kernel, stride=1, groups=1, bottleneck=False):
        super().__init__()
        self.conv = nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(after)
        self.activation = nn.Identity() if bottleneck else nn.ReLU6()

    def forward(self, inputs):
        return self.activation(self.norm(self.conv(inputs)))


class InvertedResidual(nn.Module):
    def __init__(self, before, after, stride, expansion):
        super().__init__()
        inner = before * expansion
        widening = [ConvUnit(before, inner, 1)] if expansion > 1 else []
        self.units = nn.Sequential(*widening, ConvUnit(inner, inner, 3, stride, inner), ConvUnit(inner, after, 1, bottleneck=True))
        self.shortcut = stride == 1 and before == after

    def forward(self, inputs):
        return self.units(inputs) + inputs if self.shortcut else self.units(inputs)


class MobileNetV2(nn.Module):
    GROUPS = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))

    def __init__(self, width, channels, classes):
        super().__init__()
        before = widened(32, width)
        features = [ConvUnit(channels, before, 3)]
        for expansion, after, count, stride in self.GROUPS:
            for i in range(count):
                features.append(InvertedResidual(before, widened(after, width), stride if i == 0 else 1, expansion))
                before = widened(after, width)
        after = widened(1280, max(1.0, width))
        self.features = nn.Sequential(*features, ConvUnit(before, after, 1))
        self.last = nn.Linear(after, classes)

    def forward(self, inputs):
        return self.last(self.features(inputs).mean((2, 3)))


class Transformer(nn.Module):
    def __init__(self, tokens, classes, labels_places, layers=2, width=64, heads=4):
        super().__init__()
        self.labels_places, self.width = labels_places, width
        self.embedding = nn.Embedding(tokens, width)
        self.norm = nn.LayerNorm(width)
        layer = [nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True) for _ in range(layers)]
        self.layers = nn.ModuleList(layer)
        self.last = nn.Linear(width, classes)

    def places(self, length):
        angles = torch.arange(length).double()[:, None] / 10000 ** (torch.arange(0, self.width, 2) / self.width)
        return torch.stack((angles.sin(), angles.cos()), 2).flatten(1).float()

    def forward(self, inputs):
        length = inputs.shape[1]
        hidden = self.norm(self.embedding(inputs) + self.places(length))
        mask = torch.full((length, length), -torch.inf).triu(1) if self.labels_places else None
        padding = None if self.labels_places else inputs == 257
        for layer in self.layers:
            hidden = layer(hidden, mask, padding)
        return self.last(hidden if self.labels_places else hidden[:, 0])
