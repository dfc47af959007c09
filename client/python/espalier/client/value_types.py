"""The types of hyper-parameters that a trainer takes without declaring them, as `synthetic` does: they follow from what is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from espalier.errors import InvalidArgument
from espalier.sequences import families as of
from espalier.sequences.ranges import Choice, Integer, Range
from espalier.sequences.sequence import Sequence

TYPES = {1: bool, 2: int, 3: float, 4: str}  # ValueType
ENUM = {kind: number for number, kind in TYPES.items()}
# Families whose values are whole if all that is written is.
WHOLE = (of.Constant, of.Step, of.MultiStep, of.Piecewise, of.Table, of.Scale, of.Every)
NO_VALUES = ("every", "milestones", "k")  # arguments that count steps


def guessed_types(values: Mapping[str, Iterable[Any]]) -> dict[str, type]:
    """Name -> bool, int, float or str: the first that all its values are of. `values`: of each hyper-parameter all that are tried.
    Raises InvalidArgument, which names the hyper-parameter whose values have no one type."""
    found = {}
    for name, tried in values.items():
        types = set()
        for each in tried:
            types |= set(_types(each))
        types = {float} if types == {int, float} else types
        if len(types) > 1:
            names = " and ".join(sorted(each.__name__ for each in types))
            raise InvalidArgument(f"expected values of one type, got {names}", f"hyper_parameters.{name}")
        found[name] = types.pop() if types else float
    return found


def _types(value):
    if isinstance(value, Choice):
        for each in value.values:
            yield from _types(each)
    elif isinstance(value, Integer):
        yield int
    elif isinstance(value, Range):
        yield float
    elif not isinstance(value, Sequence):
        yield type(value)
    elif not isinstance(value, WHOLE):
        yield float
    else:
        for field in dataclasses.fields(value):
            argument = getattr(value, field.name)
            for each in argument if isinstance(argument, tuple) else (argument,):
                if field.name not in NO_VALUES:
                    yield from _types(each)
