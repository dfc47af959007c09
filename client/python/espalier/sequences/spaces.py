"""What a study tries: for each hyper-parameter a value that stays fixed, or several."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from espalier.errors import InvalidArgument
from espalier.sequences.conditions import Conditions
from espalier.sequences.notation import looks_like_call, parse
from espalier.sequences.ranges import Choice, Range
from espalier.sequences.sequence import Sequence, as_expression, open_places, replaced, written
from espalier.sequences.values import Value, shown

Trial = dict[str, Any]  # hyper-parameter's name -> plain value or Sequence


def hyper_parameters(given: Mapping[str, Any], field: str = "hyper_parameters") -> Trial:
    """Each value as a plain value, a sequence or a range; a text that looks like a call is read as one. Raises InvalidArgument, which
    names the hyper-parameter, "hyper_parameters.lr"."""
    if not isinstance(given, Mapping):
        raise InvalidArgument(f"expected a dict of names to values, got {shown(given)}", field)
    return {_name(name, field): _expression(value, f"{field}.{name}") for name, value in given.items()}


def sequences_of(trial: Mapping[str, Any], field: str = "hyper_parameters") -> dict[str, str]:
    """A trial as it is sent: name -> text in the notation. Raises InvalidArgument where something is not chosen yet."""
    checked = hyper_parameters(trial, field)
    for name, value in checked.items():
        if (left := next(open_places(value), None)) is not None:
            raise InvalidArgument(f"expected a chosen value, got the range {left}; draw from an es.Space, or give it to a tuner",
                                  f"{field}.{name}")  # fmt: skip
    return {name: written(value) for name, value in checked.items()}


class Grid:
    """Every combination of lists. `Grid({"lr": [0.1, es.Exponential(0.1, 0.95)], "bs": [32, 64], "momentum": 0.9})`: a list is tuned,
    a single value is fixed. Row-major: the last list varies fastest. `only_if`: {"momentum": "optimizer == sgd"}, conditions under which a
    hyper-parameter is part of a trial; combinations that these make alike are one trial."""

    def __init__(self, given: Mapping[str, Any], only_if: Mapping[str, str] | None = None):
        if not isinstance(given, Mapping):
            raise InvalidArgument(f"expected a dict of names to values, got {shown(given)}", "hyper_parameters")
        self.lists: dict[str, list[Value | Sequence]] = {}
        self.fixed: dict[str, Value | Sequence] = {}
        for name, value in given.items():
            field = f"hyper_parameters.{_name(name, 'hyper_parameters')}"
            if not _is_list(value):
                self.fixed[name] = _chosen(value, field)
                continue
            if not len(value):
                raise InvalidArgument("got an empty list; expected at least one value", field)
            self.lists[name] = [_chosen(each, f"{field}[{index}]") for index, each in enumerate(value)]
        values = {**self.lists, **{name: [value] for name, value in self.fixed.items()}}
        self.only_if = Conditions(only_if, {name: [written(each) for each in tried] for name, tried in values.items()})
        self._distinct: list[Trial] | None = None  # of a grid with conditions, once it was asked for

    def __len__(self):
        return len(self._trials()) if self.only_if else self._combinations()

    def __iter__(self) -> Iterator[Trial]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> Trial:
        if not 0 <= index < len(self):
            raise IndexError(f"trial {index} of {len(self)}")
        return dict(self._trials()[index]) if self.only_if else self._combination(index)

    def _trials(self):
        if self._distinct is None:
            trials = (self.only_if.apply(self._combination(index)) for index in range(self._combinations()))
            self._distinct = list({tuple(sorted(sequences_of(trial).items())): trial for trial in reversed(list(trials))}.values())[::-1]
        return self._distinct

    def _combinations(self):
        return math.prod(map(len, self.lists.values()))

    def _combination(self, index):
        chosen = {}
        for name, values in reversed(self.lists.items()):
            index, place = divmod(index, len(values))
            chosen[name] = values[place]
        return {**{name: chosen[name] for name in self.lists}, **self.fixed}

    def where(self, keep: Callable[[Trial], bool]) -> list[Trial]:
        """The trials for which `keep(trial)` is true, in the grid's order."""
        return [trial for trial in self if keep(trial)]

    def some(self) -> list[Trial]:
        """As few of its trials as have each of its values, at most 1000."""
        count = min(1000, max([1, *map(len, self.lists.values())]))
        trials = ({**{name: values[index % len(values)] for name, values in self.lists.items()}, **self.fixed} for index in range(count))
        return [self.only_if.apply(trial) for trial in trials]

    @property
    def has_several(self) -> bool:
        """Not all of its trials are alike."""
        return bool(self.tuned())

    def tuned(self) -> dict[str, list[Value | Sequence]]:
        """What is not fixed."""
        return {name: values for name, values in self.lists.items() if len(values) > 1}

    def written(self) -> dict[str, Any]:
        """As a study file has it, in JSON: plain values as such, sequences as texts; first what is tuned, in its order."""
        return {**{name: [in_json(each) for each in values] for name, values in self.lists.items()},
                **{name: in_json(self.fixed[name]) for name in sorted(self.fixed)}}  # fmt: skip

    def __repr__(self):
        return f"es.Grid({ {**self.lists, **self.fixed}!r}{_said(self.only_if)})"


class Space:
    """Values with ranges in them, of which trials are drawn: `Space({"lr": es.Exponential(es.loguniform(1e-3, 1), 0.95), "bs": [32, 64]})`.
    A list is a choice. `only_if`: as of a grid."""

    def __init__(self, given: Mapping[str, Any], only_if: Mapping[str, str] | None = None):
        if not isinstance(given, Mapping):
            raise InvalidArgument(f"expected a dict of names to values, got {shown(given)}", "hyper_parameters")
        self.hyper_parameters: dict[str, Value | Sequence | Range] = {}
        self._listed = set()
        for name, value in given.items():
            field = f"hyper_parameters.{_name(name, 'hyper_parameters')}"
            if _is_list(value):
                self._listed.add(name)
                value = Choice(*(_chosen(each, f"{field}[{index}]") for index, each in enumerate(value)))
            self.hyper_parameters[name] = _expression(value, field)
        self.only_if = Conditions(only_if, {name: _values(value) for name, value in self.hyper_parameters.items()})

    def sample(self, generator: random.Random | None = None) -> Trial:
        """One trial: each range drawn once, in the order in which they are written. `generator`: Python's own if left out."""
        drawn_from = generator or random
        drawn = {name: replaced(value, lambda each: each.draw(drawn_from)) for name, value in self.hyper_parameters.items()}
        return self.only_if.apply(drawn)

    def some(self) -> list[Trial]:
        """One trial, always the same."""
        return [self.sample(random.Random(0))]

    @property
    def has_several(self) -> bool:
        """Not all of its trials are alike."""
        return bool(self.tuned())

    def tuned(self) -> dict[str, list[Value | Sequence | Range]]:
        """What is not fixed."""
        return {name: [value] for name, value in self.hyper_parameters.items() if any(True for _ in open_places(value))}

    def written(self) -> dict[str, Any]:
        """As a study file has it, in JSON: plain values as such, all else as texts; first what is drawn, in its order."""
        tuned = {name: [in_json(each) for each in (value.values if name in self._listed else [value])] for name, (value,) in self.tuned().items()}
        return {**tuned, **{name: in_json(self.hyper_parameters[name]) for name in sorted(self.hyper_parameters) if name not in tuned}}

    def __repr__(self):
        given = {name: list(value.values) if name in self._listed else value for name, value in self.hyper_parameters.items()}
        return f"es.Space({given!r}{_said(self.only_if)})"


def in_json(value: Value | Sequence | Range) -> Any:
    """As a study file in JSON has it: a plain value as such, all else as a text."""
    return value if isinstance(value, (bool, int, float, str)) else written(value)


def _said(only_if):
    return f", only_if={only_if.written()!r}" if only_if else ""


def _values(value):
    """As texts in the notation; None: not known."""
    if isinstance(value, Choice):
        return [written(each) for each in value.values]
    return None if any(True for _ in open_places(value)) else [written(value)]


def _name(name, field):
    if not isinstance(name, str) or not name:
        raise InvalidArgument(f"expected a hyper-parameter's name, got {shown(name)}", field)
    return name


def _is_list(value):
    return isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ == "ndarray"


def _expression(value, field):
    try:
        return parse(value) if isinstance(value, str) and looks_like_call(value) else as_expression(value)
    except InvalidArgument as error:
        raise InvalidArgument(error.message, field) from None


def _chosen(value, field):
    expression = _expression(value, field)
    if (left := next(open_places(expression), None)) is not None:
        raise InvalidArgument(f"expected no range in a grid, got {left}; write es.Space(...)", field)
    return expression
