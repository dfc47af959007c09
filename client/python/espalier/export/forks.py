"""Where trials part. Pure."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Segments = tuple[tuple[int, str], ...]  # of one hyper-parameter: (its first step, its function); the first is from step 0


@dataclass(frozen=True)
class Fork:
    """A trial that goes on as another one began: after `step` steps of `parent`."""

    parent: int
    step: int


@dataclass(frozen=True)
class Way:
    """What a trial is, as far as it was trained: `steps` steps of these hyper-parameters."""

    trial: int
    steps: int
    segments: Mapping[str, Segments]


def forks(ways: Iterable[Way]) -> dict[int, Fork]:
    """Of each trial the one among those before it with which it shares the longest beginning, the first of several, and how many steps
    that is. Trials that share no step with any are not in it. Costs what the ways hold, whatever they share."""
    found, root = {}, _Node()
    for way in ways:
        fork, node = None, root
        for functions, end in _pieces(way):
            node = node.children.setdefault(functions, _Node())
            fork = node.shared_until(end) or fork
            node.add(end, way.trial)
        if fork is not None:
            found[way.trial] = fork
    return found


@dataclass
class _Node:
    """A piece of training, the pieces before it being its parents'. `ends`: those that go further than all before them: (where, trial)."""

    children: dict[tuple[int, tuple], _Node] = field(default_factory=dict)
    ends: list[tuple[int, int]] = field(default_factory=list)

    def add(self, end, trial):
        if not self.ends or end > self.ends[-1][0]:
            self.ends.append((end, trial))

    def shared_until(self, end):
        """The first trial that goes as far as `end`, else the one that goes furthest."""
        if not self.ends:
            return None
        place = min(bisect.bisect_left(self.ends, (end, -1)), len(self.ends) - 1)
        reached, trial = self.ends[place]
        return Fork(trial, min(reached, end))


def _pieces(way: Way) -> Iterator[tuple[tuple[int, tuple], int]]:
    """((first step, functions by hyper-parameter), end) of each stretch in which no function changes."""
    by_step: dict[int, dict[str, str]] = {}
    for name, segments in way.segments.items():
        for start, function in segments:
            by_step.setdefault(start, {})[name] = function
    starts = [step for step in sorted({0, *by_step}) if step < way.steps]
    current: dict[str, str] = {}
    for start, end in zip(starts, [*starts[1:], way.steps]):
        current |= by_step.get(start, {})
        yield (start, tuple(sorted(current.items()))), end
