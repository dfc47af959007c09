"""What a study would cost, before it runs (docs/forecasts.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from espalier.client import text

NOT_MEASURED = "not known: no step of such a training has been measured yet"


@dataclass(frozen=True)
class NearMiss:
    """Two sequences of one hyper-parameter that differ by rounding only, from `from_step` on, and so are trained apart."""

    hyper_parameter: str
    first: str
    second: str
    from_step: int
    difference: float


@dataclass(frozen=True)
class EarlyParting:
    """`sequence_count` sequences of one hyper-parameter, some of which are `sequences`, that are alike up to `at_step`, early on, and then
    rise or fall in different ways. `hint`: what they do, and which change would let them share."""

    hyper_parameter: str
    sequences: list[str]
    sequence_count: int
    at_step: int
    hint: str

    def __str__(self):
        more = self.sequence_count - len(self.sequences)
        return f"{self.hyper_parameter}: {', '.join(self.sequences)}{f' and {more} more' if more else ''} {self.hint}"


@dataclass(frozen=True)
class Forecast:
    """`total_steps`: of all trials to their horizons; `unique_steps`: shared ones counted once; `merge_rate`: the one over the other;
    `reused_steps`: of the unique ones, by other code, whose states trials begin with; they count as trained.
    What is not known is None, never a guess: `trained_steps`, `remaining_steps` of the unique ones; `slot_seconds` on one slot,
    `critical_path_seconds` however many there are; `checkpoint_bytes` at most at once."""

    trials: int
    total_steps: int
    unique_steps: int
    merge_rate: float
    trained_steps: int | None
    remaining_steps: int | None
    slot_seconds: float | None
    critical_path_seconds: float | None
    checkpoint_bytes: int | None
    near_misses: list[NearMiss]
    near_miss_count: int
    early_partings: list[EarlyParting]
    early_parting_count: int
    reused_steps: int

    def rows(self) -> list[tuple[str, str]]:
        trained = "not known: no server that offers the trainer is connected"
        if self.trained_steps is not None and self.remaining_steps is not None:
            trained = f"{text.count(self.trained_steps)} are trained already, {text.count(self.remaining_steps)} remain"
        if self.reused_steps:
            trained += f"; {text.count(self.reused_steps)} come with states of other code"
        longest, size = self.critical_path_seconds, self.checkpoint_bytes
        rows = [
            ("trials", text.count(self.trials)),
            ("total steps", text.count(self.total_steps)),
            ("unique steps", text.count(self.unique_steps)),
            ("merge rate", text.number(self.merge_rate)),
            ("of the unique steps", trained),
            ("slot-seconds", NOT_MEASURED if self.slot_seconds is None else text.number(self.slot_seconds)),
            ("at the least", NOT_MEASURED if longest is None else f"{text.duration(longest)}, however many slots there are"),
            ("checkpoints", "not known: none of such a training is stored yet" if size is None else f"{text.byte_count(size)} at most"),
        ]
        for each in self.near_misses:
            rows.append(("near miss", f"{each.hyper_parameter}: {each.first} and {each.second}: these two differ by "
                                      f"{each.difference:.2g} from step {each.from_step} on"))  # fmt: skip
        if self.trials > 1 and self.unique_steps == self.total_steps:
            rows.append(("sharing", "saves nothing: no two trials begin alike"))
        rows += [("would share", str(each)) for each in self.early_partings]
        return rows

    def __str__(self):
        return text.table(self.rows())

    def _repr_html_(self):
        return text.html_table([("", ""), *self.rows()])


def forecast_of(wire: Any) -> Forecast:
    def known(name):
        return getattr(wire, name) if wire.HasField(name) else None

    partings = [EarlyParting(each.hyper_parameter, list(each.sequences), each.sequence_count, each.at_step, each.hint)
                for each in wire.early_partings]  # fmt: skip
    misses = [NearMiss(each.hyper_parameter, each.first, each.second, each.from_step, each.difference) for each in wire.near_misses]
    return Forecast(wire.trials, wire.total_steps, wire.unique_steps, wire.merge_rate, known("trained_steps"),
                    known("remaining_steps"), known("slot_seconds"), known("critical_path_seconds"), known("checkpoint_bytes"), misses,
                    wire.near_miss_count, partings, wire.early_parting_count, wire.reused_steps)  # fmt: skip
