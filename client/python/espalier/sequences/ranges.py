"""Ranges: what stands in the place of any argument, or of a whole hyper-parameter, when a tuner shall choose."""

from __future__ import annotations

import math
import random

from espalier.errors import InvalidArgument
from espalier.sequences import arguments
from espalier.sequences.sequence import Sequence, as_expression, open_places, written
from espalier.sequences.values import INTEGER_MAX, INTEGER_MIN, Value, plain, shown


class Range(arguments.Open):
    """A value that is to be chosen. `str` gives the notation. Immutable; two are equal if they are written alike, and yet two choices."""

    _arguments: tuple

    def __str__(self):
        return f"{type(self).__name__.lower()}({', '.join(map(written, self._arguments))})"

    def __repr__(self):
        return f"es.{type(self).__name__.lower()}({', '.join(map(repr, self._arguments))})"

    def __eq__(self, other):
        return isinstance(other, Range) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def draw(self, generator: random.Random) -> Value | Sequence:
        """One value, drawn from the range."""
        raise NotImplementedError


class Uniform(Range):
    def __init__(self, low, high):
        self._arguments = self.low, self.high = _bounds("uniform", low, high)

    def draw(self, generator):
        return generator.uniform(self.low, self.high)


class LogUniform(Range):
    def __init__(self, low, high):
        self._arguments = self.low, self.high = _bounds("loguniform", low, high)
        if self.low <= 0:
            raise InvalidArgument(f"loguniform: low: expected a number greater than 0, got {shown(low)}")

    def draw(self, generator):
        value = math.exp(generator.uniform(math.log(self.low), math.log(self.high)))
        return min(max(value, self.low), self.high)


class Integer(Range):
    def __init__(self, low, high):
        self._arguments = self.low, self.high = _bounds("integer", low, high)
        for name, value in (("low", self.low), ("high", self.high)):
            if value != int(value) or not INTEGER_MIN <= value <= INTEGER_MAX:
                raise InvalidArgument(f"integer: {name}: expected a whole number, got {shown(value)}")
        self._arguments = self.low, self.high = int(self.low), int(self.high)

    def draw(self, generator):
        return generator.randint(self.low, self.high)


class Choice(Range):
    def __init__(self, *values):
        if not values:
            raise InvalidArgument("choice: expected at least one value")
        self.values = self._arguments = tuple(as_expression(each) for each in values)
        if any(True for each in self.values for _ in open_places(each)):
            raise InvalidArgument("choice: expected values and sequences without ranges in them")

    def draw(self, generator):
        return generator.choice(self.values)


def uniform(low: float, high: float) -> Range:
    """Any number from `low` to `high`, each as likely."""
    return Uniform(low, high)


def loguniform(low: float, high: float) -> Range:
    """Any number from `low`, which is greater than 0, to `high`; its logarithm is uniform."""
    return LogUniform(low, high)


def integer(low: int, high: int) -> Range:
    """A whole number from `low` to `high`, both included."""
    return Integer(low, high)


def choice(*values: Value | Sequence) -> Range:
    """One of these values, or sequences."""
    return Choice(*values)


RANGES = {"uniform": uniform, "loguniform": loguniform, "integer": integer, "choice": choice}


def _bounds(name, low, high):
    bounds = []
    for which, given in (("low", low), ("high", high)):
        value = plain(given)
        if isinstance(value, (bool, str, type(None))):
            raise InvalidArgument(f"{name}: {which}: expected a number, got {shown(given)}")
        bounds.append(value)
    if bounds[0] > bounds[1]:
        raise InvalidArgument(f"{name}: expected low to be at most high, got {shown(low)} and {shown(high)}")
    return tuple(bounds)
