"""How much of the spread between trials goes with a hyper-parameter."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from espalier.client.parameters import parameters_of
from espalier.errors import FailedPrecondition, InvalidArgument
from espalier.sequences.sequence import Sequence
from espalier.sequences.values import Value, shown

if TYPE_CHECKING:
    from espalier.client.study import Study

BINS = 4  # of a parameter that has more values than that
TRIALS_PER_VALUE = 2  # at least, on average: what no two trials share says nothing


def importances_of(study: Study, at: int | None) -> tuple[int, dict[str, float]]:
    """As Study.importances says: the step, and those."""
    metric, trials = study.metric, list(study.trials)
    finite = [{step: each[metric] for step, each in trial.metrics.items() if math.isfinite(each.get(metric, math.nan))} for trial in trials]
    counts = Counter(step for each in finite for step in each)
    if not counts:
        raise FailedPrecondition("no trial has a result yet")
    at = max(counts, key=lambda step: (counts[step], step)) if at is None else at
    if at not in counts:
        raise InvalidArgument(f"expected one of {', '.join(map(str, sorted(counts)))}, where trials were measured, got {shown(at)}", "at")
    measured = [(trial, each[at]) for trial, each in zip(trials, finite, strict=True) if at in each]
    return at, importances([trial.hyper_parameters for trial, _ in measured], [value for _, value in measured])


def importances(tried: list[dict[str, Value | Sequence]], metrics: list[float]) -> dict[str, float]:
    """Parameter -> its importance, the greatest first, of trials with these hyper-parameters and finite metrics, one each.

    The share of the metric's variance that goes with the parameter: trials of one value are a group, and 1 - (variance within groups) / (variance
    of all), each variance estimated without bias (epsilon squared of a one-way analysis of variance), at least 0. Of a number with more
    than four values the groups are quarters of the trials, by its order; trials that leave a hyper-parameter out are a group. Each
    parameter is looked at alone, so that shares need not add up to 1: a sequence and a number in it may explain the same, and what only
    several together explain is in none. Left out: what is the same everywhere; that of which a value, on average, has fewer than two trials; and
    numbers in a sequence whose places are not in all trials."""
    parameters, names = parameters_of(tried), set().union(*tried)
    found = {}
    for name in sorted(set().union(*parameters)):
        groups = _groups([each.get(name) for each in parameters], metrics)
        is_everywhere = name in names or all(name in each for each in parameters)
        if is_everywhere and 1 < len(groups) <= len(metrics) / TRIALS_PER_VALUE:
            found[name] = _explained(groups, metrics)
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def _groups(values, metrics):
    """The metrics of the trials of each value."""
    numbers = sorted(each for each in values if isinstance(each, (int, float)))
    binned = len(set(numbers)) > BINS
    groups = defaultdict(list)
    for value, metric in zip(values, metrics, strict=True):
        if binned and isinstance(value, (int, float)):
            value = numbers.index(value) * BINS // len(numbers)  # equal values are in one
        groups[value].append(metric)
    return list(groups.values())


def _explained(groups, metrics):
    whole = _squares(metrics) / (len(metrics) - 1)
    if whole == 0:
        return 0.0
    within = sum(map(_squares, groups)) / (len(metrics) - len(groups))
    return max(0.0, 1 - within / whole)


def _squares(values):
    """The sum of squared distances from the mean."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)
