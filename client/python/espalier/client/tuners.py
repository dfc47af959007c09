"""The tuners that the service has of its own: what each decides, and by what papers, stands in docs/tuners.md. They decide in the service, by
a tuner host, so that a study goes on when the process that began it is gone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from espalier.errors import InvalidArgument
from espalier.sequences.values import shown

SAMPLINGS = ("random", "sobol")


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

    def __post_init__(self):
        for name, value in self.options().items():
            self._check(name, value)

    def _check(self, name, value, least=1):
        if not isinstance(value, bool) and not (isinstance(value, int) and value >= least):
            raise InvalidArgument(f"expected a whole number of at least {least}, got {shown(value)}", f"{self.name}.{name}")


@dataclass(frozen=True, kw_only=True)
class _Draws(BuiltIn):
    """With `trials` it tries so many, drawn from the study's space: what is drawn follows from `seed` (0 if left out) and a trial's
    number. `sampling`: "random" (left out: that), or "sobol", which is even over the whole space."""

    trials: int | None = None
    seed: int | None = None
    sampling: str | None = None

    def __post_init__(self):
        super().__post_init__()
        if self.trials is None and (self.seed is not None or self.sampling is not None):
            raise InvalidArgument("is missing; expected how many trials to draw", f"{self.name}.trials")

    def _check(self, name, value, least=1):
        if name != "sampling":
            super()._check(name, value, 0 if name == "seed" else least)
        elif value not in SAMPLINGS:
            raise InvalidArgument(f"expected {' or '.join(SAMPLINGS)}, got {shown(value)}", f"{self.name}.{name}")


class _AskedByIdleSlots(_Draws):
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
    """`trials` trials, drawn from the study's space, each to step `steps`."""

    name = "random"
    steps: int
    trials: int


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
    is worse than those that were there before it."""

    name = "asha"
    min: int
    max: int
    reduction: int = 4
    open_trials: int | None = None
    stopping: bool = False


@dataclass(frozen=True, kw_only=True)
class Hyperband(_Draws):
    """Brackets of successive halving that trade many trials for long ones, of at most `max` steps."""

    name = "hyperband"
    max: int
    reduction: int = 3


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
