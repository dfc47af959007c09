"""The tuners that the service has of its own: what each decides, and by what papers, stands in docs/tuners.md. They decide in the service, by
a tuner host, so that a study goes on when the process that began it is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from espalier.errors import InvalidArgument
from espalier.sequences.ranges import Choice
from espalier.sequences.sequence import Sequence
from espalier.sequences.spaces import Grid, Space
from espalier.sequences.values import shown

SAMPLINGS = ("random", "sobol", "tpe")
LEARNS = "tpe"  # from what was measured: for tuners that start their trials one by one
TRIALS_UNTIL_STOPPED = 10_000  # as many are drawn at most where nobody says how many


@dataclass(frozen=True, kw_only=True)
class BuiltIn:
    """Steps are whole numbers of at least 1. `version`: counts up when it would decide otherwise; a host of another one refuses the study."""

    name: ClassVar[str]
    version: ClassVar[int] = 1

    def options(self) -> dict[str, Any]:
        """As a study file has them: those that were given."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in given.items() if value is not None and value is not False}

    @property
    def asks_for_idle_slots(self) -> bool:
        """Whether the study's events say when a slot would be idle for it."""
        return False

    @property
    def longest(self) -> int:
        """How many steps it may ask of a trial."""
        return self.steps if hasattr(self, "steps") else self.max

    def written(self, space: Grid | Space | None) -> dict[str, Any]:
        """Its options as a study's definition has them: with those of its draws that were left out."""
        return self.options()

    def draws(self, space: Grid | Space | None) -> bool:
        """Whether its trials are drawn from this space; else they are the combinations of its lists, or were given (no space)."""
        return False

    def draw_count(self, is_stopped: bool) -> int:
        """How many trials it draws at most. `is_stopped`: the study has a rule when it ends. Raises InvalidArgument where nobody says.
        REQUIRES: it draws."""
        raise NotImplementedError

    def check(self, space: Grid | Space, trial_count: int) -> None:
        """Raises InvalidArgument where it cannot tune so many trials, or trials of this space."""

    def __post_init__(self):
        for name, value in self.options().items():
            self._check(name, value)

    def _check(self, name, value, least=1):
        if not isinstance(value, bool) and not (isinstance(value, int) and value >= least):
            raise InvalidArgument(f"expected a whole number of at least {least}, got {shown(value)}", f"{self.name}.{name}")


@dataclass(frozen=True, kw_only=True)
class _Draws(BuiltIn):
    """With `trials` it tries so many, drawn from the study's space: what is drawn follows from `seed` (0 if left out) and a trial's
    number. A tuner that has `open_trials`, in a study that has `stop`, needs no `trials`: it draws until the study ends. `sampling`:
    "random" (left out: that), "sobol", which is even over the whole space, or, where trials start one by one, "tpe": by what was measured
    of those before."""

    starts_one_by_one: ClassVar[bool] = False

    trials: int | None = None
    seed: int | None = None
    sampling: str | None = None

    def written(self, space):
        return {"sampling": SAMPLINGS[0], "seed": 0, **self.options()} if self.draws(space) else self.options()

    def draws(self, space):
        said = (self.trials, self.seed, self.sampling)
        return any(each is not None for each in said) or isinstance(space, Space)

    def draw_count(self, is_stopped):
        if self.trials is not None:
            return self.trials
        may_go_on = hasattr(self, "open_trials")
        if may_go_on and is_stopped:
            return TRIALS_UNTIL_STOPPED
        otherwise = "; or give client.study(...) stop, when the study ends" if may_go_on else ""
        raise InvalidArgument("is missing; expected how many trials to draw" + otherwise, f"{self.name}.trials")

    def _check(self, name, value, least=1):
        if name != "sampling":
            super()._check(name, value, 0 if name == "seed" else least)
            return
        known = SAMPLINGS if self.starts_one_by_one else tuple(each for each in SAMPLINGS if each != LEARNS)
        if value not in known:
            raise InvalidArgument(f"expected {' or '.join(known)}, got {shown(value)}", f"{self.name}.{name}")


class _AskedByIdleSlots(_Draws):
    starts_one_by_one = True

    @property
    def asks_for_idle_slots(self) -> bool:
        return getattr(self, "open_trials", None) is None


@dataclass(frozen=True, kw_only=True)
class GridSearch(BuiltIn):
    """Every trial to step `steps`."""

    name = "grid"
    steps: int


@dataclass(frozen=True, kw_only=True)
class Random(_Draws):
    """`trials` trials, drawn from the study's space, each to step `steps`: at once, or `open_trials` at a time. Without `trials` it is
    asked by idle slots."""

    name = "random"
    steps: int
    open_trials: int | None = None

    @property
    def asks_for_idle_slots(self) -> bool:
        return self.trials is None and self.open_trials is None

    def draws(self, space):
        return True


@dataclass(frozen=True, kw_only=True)
class SHA(_Draws):
    """Successive halving: the best 1 / `reduction` of a rung go on; rungs at `min`, `min` x `reduction`, ..., `max`."""

    name = "sha"
    min: int
    max: int
    reduction: int = 4


@dataclass(frozen=True, kw_only=True)
class ASHA(_AskedByIdleSlots):
    """The same without waiting, asked by idle slots, or with `open_trials` trials at once. `stopping`: a trial goes on from a rung unless it
    is worse than those that were there before it. `merge_aware`: of what may go on and what may start first what
    adds the fewest steps to those that the study has asked for."""

    name = "asha"
    min: int
    max: int
    reduction: int = 4
    open_trials: int | None = None
    stopping: bool = False
    merge_aware: bool = False


@dataclass(frozen=True, kw_only=True)
class Hyperband(_Draws):
    """Brackets of successive halving that trade many trials for long ones, of at most `max` steps; all at once, with `sampling="tpe"` one
    after the other, as BOHB has them."""

    name = "hyperband"
    starts_one_by_one = True
    max: int
    reduction: int = 3

    @property
    def asks_for_idle_slots(self) -> bool:
        return self.sampling == LEARNS


@dataclass(frozen=True, kw_only=True)
class Median(_AskedByIdleSlots):
    """Looks at trials of `steps` steps every `every` of them, and stops those whose best is worse than the median of the others' means; not
    before step `grace`, nor before `min_trials` others were there."""

    name = "median"
    steps: int
    every: int
    grace: int | None = None
    min_trials: int | None = None
    open_trials: int | None = None


@dataclass(frozen=True, kw_only=True)
class TPE(_AskedByIdleSlots):
    """`trials` trials, each to step `steps`, drawn by what was measured of those before; asked by idle slots, or with `open_trials` at once."""

    name = "tpe"
    steps: int
    open_trials: int | None = None
    sampling: str | None = LEARNS

    def __post_init__(self):
        super().__post_init__()
        if self.sampling != LEARNS:
            raise InvalidArgument(f"expected {LEARNS}, got {shown(self.sampling)}; es.Random draws otherwise", "tpe.sampling")


@dataclass(frozen=True, kw_only=True)
class PBT(_Draws):
    """A population of `trials`: every `interval` steps a member among the worst `quantile` goes on from one of the best, with values drawn anew
    with the chance `resample`, else multiplied by 0.8 or 1.2. The space has values and ranges of values, no sequences."""

    name = "pbt"
    steps: int
    interval: int
    trials: int
    quantile: float | None = None
    resample: float | None = None

    def check(self, space, trial_count):
        for name, items in space.tuned().items():
            for item in items:
                if not all(map(_is_changeable, item.values if isinstance(item, Choice) else [item])):
                    raise InvalidArgument(f"expected several values, one range of numbers, or one choice of values, got {shown(str(item))}; es.PBT "
                                          "changes them on the way", f"hyper_parameters.{name}")  # fmt: skip

    def _check(self, name, value, least=1):
        if name not in ("quantile", "resample"):
            super()._check(name, value, least)
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise InvalidArgument(f"expected a number from 0 to 1, got {shown(value)}", f"{self.name}.{name}")


@dataclass(frozen=True, kw_only=True)
class EarlyStop(BuiltIn):
    """At each of the `milestones` (a step: how many trials are trained up to there) the best go on: `EarlyStop(milestones={5: 8, 10: 4})`."""

    name = "early_stop"
    milestones: Mapping[int, int]

    @property
    def longest(self) -> int:
        return max(self.milestones)

    def check(self, space, trial_count):
        if (first := self.milestones[min(self.milestones)]) < trial_count:
            raise InvalidArgument(f"got {first} trials at the first; expected all {trial_count}", "early_stop.milestones")

    def __post_init__(self):
        if not isinstance(self.milestones, Mapping) or not self.milestones:
            raise InvalidArgument(f"expected a dict of steps to how many trials are trained up to there, got {shown(self.milestones)}",
                                  "early_stop.milestones")  # fmt: skip
        super().__post_init__()
        counts = [self.milestones[step] for step in sorted(self.milestones)]
        if counts != sorted(counts, reverse=True):
            raise InvalidArgument(f"expected no more trials at a milestone than at the one before, got {shown(self.milestones)}",
                                  "early_stop.milestones")  # fmt: skip

    def options(self) -> dict[str, Any]:
        return {"milestones": {str(step): count for step, count in sorted(self.milestones.items())}}

    def _check(self, name, value, least=1):
        for step, count in self.milestones.items():
            super()._check(f"{name}[{step}]", step)
            super()._check(f"{name}[{step}]", count)


def _is_changeable(item):
    return not isinstance(item, (Sequence, Choice))
