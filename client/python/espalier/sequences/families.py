"""The families of sequences, with the arguments of docs/sequences.md, which has each with its formula and a plot. `x` is the step, counted
from 0 where the sequence begins. All raise InvalidArgument for arguments that make no sense; the values themselves are computed by the
service alone, so that they are the same bits everywhere."""

from __future__ import annotations

from collections.abc import Sequence as List
from typing import Union

from espalier.errors import InvalidArgument
from espalier.sequences.arguments import (Anneal, Any, Anys, Boolean, Count, CountOrNone, Fraction, Milestones, Number, Open,
                                          Positive, Shape)  # fmt: skip
from espalier.sequences.sequence import Sequence
from espalier.sequences.values import Value

Expression = Union[Sequence, Value, Open]
Expressions = List[Expression]


class Constant(Sequence):
    """`init`, at every step. A bare number, text or boolean is one too."""

    init: Any


class Linear(Sequence):
    """`init + slope * x`, without end."""

    init: Number
    slope: Number


class LinearTo(Sequence):
    """From `init` to `end` in a straight line within `period` steps, from there on `end`. PyTorch's LinearLR."""

    init: Number
    end: Number
    period: Count


class Step(Sequence):
    """`init`, times `gamma` every `every` steps. PyTorch's StepLR."""

    init: Number
    every: Count
    gamma: Positive


class MultiStep(Sequence):
    """`init`, times `gamma` at each milestone, whose step has the new value. PyTorch's MultiStepLR."""

    init: Number
    milestones: Milestones
    gamma: Positive


class Exponential(Sequence):
    """`init * gamma**x`. PyTorch's ExponentialLR."""

    init: Number
    gamma: Positive


class Polynomial(Sequence):
    """`end + (init - end) * (1 - x / period)**power` up to step `period`, from there on `end`. PyTorch's PolynomialLR."""

    init: Number
    period: Count
    power: Positive
    end: Number = 0.0


class Cosine(Sequence):
    """From `init` down to `min_y` along half a cosine, and again: the first period has `period` steps, each next one `gamma` times as
    many. PyTorch's CosineAnnealingWarmRestarts."""

    init: Number
    min_y: Number
    period: Count
    gamma: Count = 1


class Sinusoid(Sequence):
    """`offset + magnitude * cos(2 * pi * x / period + phase)`, the phase in radians."""

    magnitude: Number
    period: Count
    phase: Number = 0.0
    offset: Number = 0.0


class CyclicLR(Sequence):
    """Up from `init` to `max_y` within `period1` steps, down again within `period2`, and so on. PyTorch's CyclicLR, triangular."""

    init: Number
    max_y: Number
    period1: Count
    period2: Count


class OneCycle(Sequence):
    """Up to `max_y` and down to next to nothing within `total_steps`. PyTorch's OneCycleLR."""

    max_y: Number
    total_steps: Count
    pct_start: Fraction = 0.3
    anneal: Anneal = "cos"
    div_factor: Positive = 25.0
    final_div_factor: Positive = 1e4
    three_phase: Boolean = False


class OneCyclePhase(Sequence):
    """One phase of OneCycle, as the service prints it: from value `init` at place `start` to value `to` at place `end`."""

    from_: Number
    to: Number
    start: Number
    end: Number
    anneal: Anneal = "cos"


class InverseSqrt(Sequence):
    """`init / sqrt((x + timescale) / timescale)`."""

    init: Number
    timescale: Positive = 1.0


class Cooldown(Sequence):
    """From `init` down to `min_y` within `period` steps, from there on `min_y`. `shape`: "linear", "cosine", "sqrt", "square" or
    "mirror_cosine"."""

    init: Number
    min_y: Number
    period: Count
    shape: Shape = "linear"


class WSD(Sequence):
    """Warm-up, stable, decay: from `start_y` to `max_y` within `warmup_steps`, then `max_y`, and over the last `decay_steps` of
    `total_steps` a Cooldown to `min_y`."""

    max_y: Number
    total_steps: Count
    decay_steps: CountOrNone
    warmup_steps: CountOrNone = 0
    start_y: Number = 0.0
    min_y: Number = 0.0
    shape: Shape = "sqrt"

    def __post_init__(self):
        super().__post_init__()
        parts = (self.warmup_steps, self.decay_steps, self.total_steps)
        if not any(isinstance(each, Open) for each in parts) and parts[0] + parts[1] > parts[2]:
            raise InvalidArgument(f"WSD: expected warmup_steps + decay_steps to be at most total_steps, got {parts[0]} + {parts[1]} > {parts[2]}")


class Warmup(Sequence):
    """From `init` in a straight line to where `then` begins, within `period` steps; then `then`, on its own clock from there."""

    init: Number
    period: Count
    then: Expression


class Piecewise(Sequence):
    """Each piece on its own clock from its milestone on, the first from 0: one milestone fewer than pieces. PyTorch's SequentialLR."""

    pieces: Expressions
    milestones: Milestones

    def __post_init__(self):
        super().__post_init__()
        if len(self.milestones) != len(self.pieces) - 1:
            raise InvalidArgument(f"Piecewise: milestones: expected {len(self.pieces) - 1} for {len(self.pieces)} pieces, got "
                                  f"{len(self.milestones)}")  # fmt: skip


class Table(Sequence):
    """`values[x]`; the last one holds."""

    values: Anys


class Scale(Sequence):
    """`factor * f(x)`."""

    factor: Number
    f: Expression


class Every(Sequence):
    """`f(x // k)`: f slowed down, such as a schedule of epochs in a study that counts batches."""

    k: Count
    f: Expression
