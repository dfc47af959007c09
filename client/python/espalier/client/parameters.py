"""What trials have tried, as plain parameters: numbers and texts, for those who know nothing of sequences."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from espalier.sequences.sequence import Sequence, written
from espalier.sequences.values import Value, is_number


def parameters_of(tried: list[dict[str, Value | Sequence]]) -> list[dict[str, str | float]]:
    """Of each of the trials' hyper-parameters. One that is a plain number in all trials, as such; of any other its text, and each number in it,
    by its place: `lr` is "Exponential(0.1, 0.95)", `lr.init` 0.1, `lr.gamma` 0.95."""
    numeric = {name for name in set().union(*tried) if all(is_number(each.get(name, 0)) for each in tried)}
    return [_parameters(each, numeric) for each in tried]


def _parameters(hyper_parameters: Mapping[str, Value | Sequence], numeric) -> dict[str, str | float]:
    parameters: dict[str, Any] = {}
    for name, value in hyper_parameters.items():
        if name in numeric:
            parameters[name] = value
        else:
            parameters[name] = value if isinstance(value, str) else written(value)
            parameters.update(_numbers(name, value) if isinstance(value, Sequence) else {})
    return parameters


def _numbers(place, value) -> Iterator[tuple[str, float]]:
    """Each number in the arguments of a sequence, with its place."""
    if isinstance(value, Sequence):
        for field in dataclasses.fields(value):
            yield from _numbers(f"{place}.{field.name}", getattr(value, field.name))
    elif isinstance(value, tuple):
        for index, each in enumerate(value):
            yield from _numbers(f"{place}[{index}]", each)
    elif is_number(value):
        yield place, float(value)
