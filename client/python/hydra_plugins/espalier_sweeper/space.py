"""What Hydra's overrides say, as a space, and its configuration, as a tuner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from espalier.client import tuners
from espalier.errors import InvalidArgument
from espalier.sequences.notation import looks_like_call, parse
from espalier.sequences.ranges import Range, integer, loguniform, uniform
from espalier.sequences.sequence import open_places
from espalier.sequences.spaces import Grid, Space
from hydra.core.override_parser.types import Glob, IntervalSweep, Override, QuotedString

TUNERS = {each.name: each for each in (tuners.GridSearch, tuners.Random, tuners.SHA, tuners.ASHA, tuners.Hyperband, tuners.Median,
                                       tuners.EarlyStop, tuners.TPE, tuners.PBT)}  # fmt: skip


def space_of(overrides: Iterable[Override]) -> Grid | Space:
    """`lr=0.1,0.2` and `bs=range(32,129,32)` are tried, one after the other; `lr=interval(0.01,1)` is drawn from, `tag(log,interval(...))` by
    its logarithm, as are ranges in a sequence in quotes; `momentum=0.9` is fixed. A Space where there is a range, else a Grid. Raises
    InvalidArgument, which names the override."""
    given = {}
    for override in overrides:
        name = override.get_key_element().lstrip("+")
        if override.is_delete() or override.package is not None or override.value() is None:
            raise InvalidArgument("expected a hyper-parameter with a value, such as lr=0.1", name)
        given[name] = _value(override, name)
    if not given:
        raise InvalidArgument("there is nothing to try: expected overrides, such as lr=0.1,0.2", "hydra.overrides")
    has_ranges = any(_is_open(each) for values in given.values() for each in (values if isinstance(values, list) else [values]))
    return Space(given) if has_ranges else Grid(given)


def tuner_of(said: Mapping[str, Any]) -> tuners.BuiltIn:
    """Of {"asha": {"min": 1, "max": 8}}. Raises InvalidArgument."""
    if not isinstance(said, Mapping) or len(said) != 1:
        raise InvalidArgument(f"expected one of {', '.join(TUNERS)}, with its settings, such as {{grid: {{steps: 80}}}}", "hydra.sweeper.tuner")
    ((name, settings),) = said.items()
    if name not in TUNERS:
        raise InvalidArgument(f"expected one of {', '.join(TUNERS)}, got {name}", "hydra.sweeper.tuner")
    try:
        return TUNERS[name](**settings)
    except TypeError as error:
        raise InvalidArgument(str(error).partition("() ")[2] or str(error), f"hydra.sweeper.tuner.{name}") from None


def _is_open(value) -> bool:
    """Whether it is still to be drawn."""
    expression = parse(value) if isinstance(value, str) and looks_like_call(value) else value
    return isinstance(expression, Range) or next(open_places(expression), None) is not None


def _value(override, name):
    if override.is_interval_sweep():
        return _range(override.value(), name)
    if not override.is_sweep_override():
        return _plain(override.value(), name)
    if isinstance(override.value(), Glob):
        raise InvalidArgument("expected a choice, a range or an interval; hyper-parameters have no groups", name)
    return [_plain(each, name) for each in override.sweep_iterator()]


def _range(sweep: IntervalSweep, name) -> Range:
    if isinstance(sweep.start, int) and isinstance(sweep.end, int) and "log" not in sweep.tags:
        return integer(sweep.start, sweep.end)
    return (loguniform if "log" in sweep.tags else uniform)(sweep.start, sweep.end)


def _plain(value, name):
    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, (bool, int, float, str)):
        return value
    raise InvalidArgument(f"expected a number, a text or a sequence in quotes, got {value}", name)
