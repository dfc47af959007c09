"""One metric of trials over their steps, and which stretches of it they share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from espalier.client.curves import TRAINING, read
from espalier.errors import InvalidArgument
from espalier.sequences.values import shown

if TYPE_CHECKING:
    from espalier.client.study import Study

Point = tuple[int, float]  # step, value


def values_of(study: Study, metric: str) -> dict[int, dict[int, float]]:
    """Trial -> this metric's values, by step in order: all that was evaluated on its way up to its horizon, whoever asked for it; where no
    trial was evaluated by it, what steps returned as they trained. Asks once or twice a trial. Raises InvalidArgument where only others are
    known."""
    found = {curve.trial: curve.metrics() for curve in read(study)}
    if not any(metric in each for by_step in found.values() for each in by_step.values()):
        found = {curve.trial: curve.metrics() for curve in read(study, training=True)}
        names = sorted({name.removeprefix(TRAINING) for by_step in found.values() for each in by_step.values() for name in each})
        if names and metric not in names:
            raise InvalidArgument(f"expected one of {', '.join(names)}, got {shown(metric)}", "metric")
        metric = TRAINING + metric
    return {trial: {step: each[metric] for step, each in by_step.items() if metric in each} for trial, by_step in found.items()}


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
