"""Metrics of trials over their steps."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from espalier.errors import InvalidArgument
from espalier.sequences.values import shown

if TYPE_CHECKING:
    from espalier.client.study import Study
    from espalier.client.trial import Trial

Point = tuple[int, float]  # step, value


def curves_of(study: Study, metric: str) -> list[tuple[Trial, dict[int, float]]]:
    """Each trial with this metric's values, by step in order: all that was evaluated on its way up to its horizon, whoever asked for it; where no
    trial was evaluated by it, what steps returned as they trained. Asks once or twice a trial. Raises InvalidArgument where only others are
    known."""
    trials = list(study.trials)
    found = [_evaluated(trial) for trial in trials]
    if not any(metric in each for each in found):
        trained = [_trained(trial) for trial in trials]
        names = sorted(set().union(*found, *trained))
        if names and not any(metric in each for each in trained):
            raise InvalidArgument(f"expected one of {', '.join(names)}, got {shown(metric)}", "metric")
        found = trained
    return [(trial, dict(sorted(each.get(metric, {}).items()))) for trial, each in zip(trials, found, strict=True)]


def stretches(curves: Mapping[int, Mapping[int, float]]) -> Iterator[tuple[int, list[Point], bool]]:
    """Of each trial's curve what none before it has, from the last point on that it shares with one; none where that is nothing. And whether it
    ends where the next value is not finite."""
    known: dict[tuple[int, Point], int] = {}  # the way to a point, and the point -> the way that passes it
    for trial, curve in curves.items():
        points = list(itertools.takewhile(lambda point: math.isfinite(point[1]), curve.items()))
        way, shared = 0, 0
        for point in points:
            shared += (way, point) in known
            way = known.setdefault((way, point), len(known) + 1)
        diverged = len(points) < len(curve)
        if points and (shared < len(points) or diverged):
            yield trial, points[max(shared - 1, 0) :], diverged


def _evaluated(trial):
    values = defaultdict(dict)
    answer = trial.study.client.connection.call("GetTrial", trial_id=trial.id)
    for each in (*answer.metrics, *answer.trial.evaluations):  # that it diverged, only its claims say
        for name, value in each.metrics.items():
            values[name][each.step] = value
    return values


def _trained(trial):
    values, after = defaultdict(dict), 0
    while True:
        answer = trial.study.client.connection.call("GetTrainingMetrics", trial_id=trial.id, after=after)
        if not answer.series:
            return values
        for each in answer.series:
            values[each.name].update(zip(each.steps, each.values, strict=True))
        after = answer.next
