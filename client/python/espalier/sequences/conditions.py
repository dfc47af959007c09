"""Conditions of hyper-parameters: one is part of a trial only if others have certain values; else the trainer's default holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from espalier.errors import InvalidArgument
from espalier.sequences.notation import parse
from espalier.sequences.sequence import written
from espalier.sequences.values import shown

AND = " and "
OPERATORS = ("==", "!=")
EXPECTED = "expected NAME == VALUE or NAME != VALUE, several joined by and"


class Conditions:
    """`Conditions({"momentum": "optimizer == sgd"}, values)`: `values`: all names of the space with what each may be, as texts in the
    notation; None: that is not known. Raises InvalidArgument with the field, "only_if.momentum"."""

    def __init__(self, given: Mapping[str, str] | None, values: Mapping[str, list[str] | None]):
        if given is not None and not isinstance(given, Mapping):
            raise InvalidArgument(f"expected a dict of names to conditions, got {shown(given)}", "only_if")
        self._comparisons = {name: _comparisons(name, text, values) for name, text in (given or {}).items()}

    def __bool__(self):
        return bool(self._comparisons)

    def apply(self, trial: dict[str, Any]) -> dict[str, Any]:
        """Without the hyper-parameters whose conditions do not hold; what is left out makes others not hold in turn."""
        kept = dict(trial)
        while left_out := [name for name in self._comparisons if name in kept and not self._holds(name, kept)]:
            del kept[left_out[0]]
        return kept

    def written(self) -> dict[str, str]:
        """As a study file has them."""
        return {name: AND.join(map(" ".join, comparisons)) for name, comparisons in self._comparisons.items()}

    def _holds(self, name, trial):
        return all(of in trial and (written(trial[of]) == value) == (operator == "==") for of, operator, value in self._comparisons[name])


def _comparisons(name, text, values):
    field = f"only_if.{name}"
    _check_is_of_space(name, values, field)
    if not isinstance(text, str):
        raise InvalidArgument(f"got {shown(text)}; {EXPECTED}", field)
    return [_comparison(part, text, values, field) for part in text.split(AND)]


def _comparison(part, text, values, field):
    at = min((place for operator in OPERATORS if (place := part.find(operator)) >= 0), default=-1)
    name, value = part[: max(at, 0)].strip(), part[at + 2 :].strip()
    if at < 0 or not name or not value:
        raise InvalidArgument(f"got {text}; {EXPECTED}", field)
    value = _in_notation(value)
    _check_is_of_space(name, values, field)
    known = values[name]
    if known is not None and value not in known:
        raise InvalidArgument(f"{name} is never {value}; expected one of: {', '.join(known)}", field)
    return name, part[at : at + 2], value


def _in_notation(value):
    """A bare word is a text."""
    try:
        return written(parse(value))
    except InvalidArgument:
        return written(value)


def _check_is_of_space(name, values, field):
    if name not in values:
        raise InvalidArgument(f"hyper_parameters has no {shown(name)}; expected one of: {', '.join(values)}", field)
