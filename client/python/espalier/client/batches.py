"""What is asked of a study in one go: a batch. One that is larger than a master takes is cut, at places that follow from it alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from espalier.client.segments import segments_at_most
from espalier.errors import Error, InvalidArgument
from espalier.sequences.spaces import hyper_parameters, sequences_of

PART_SEGMENTS_MAX = 5_000  # while a master takes a part in, it does nothing else: some 12 ms for so many
PART_BYTES_MAX = 8 << 20
SEQUENCE_BYTES = 16  # that a sequence takes there besides its text, at least
STEP_MAX = 2**53
MORE_STEPS_MAX = 1_000  # that a new trial claims at once besides its first
LISTS = {"trials": "new_trials", "claims": "claims", "close_trial_ids": "close", "cancel_trial_ids": "cancel"}


@dataclass(frozen=True)
class NewTrial:
    """`sequences`: by hyper-parameter, in the notation. `steps`: the first claim; `horizon`: the most that may ever be asked for;
    `more_steps`: claimed at once, too, each more than the one before."""

    sequences: dict[str, str]
    steps: int
    horizon: int
    segments: int  # at most
    more_steps: tuple[int, ...] = ()

    def claimed(self) -> tuple[int, ...]:
        return (self.steps, *self.more_steps)

    def byte_count(self):
        return sum(len(name) + len(text) + SEQUENCE_BYTES for name, text in self.sequences.items())


@dataclass
class Batch:
    new_trials: list[NewTrial] = field(default_factory=list)
    claims: list[tuple[int, int]] = field(default_factory=list)  # (trial id, steps)
    close: list[int] = field(default_factory=list)
    cancel: list[int] = field(default_factory=list)
    finish: bool = False

    def request(self) -> dict[str, Any]:
        """The fields of a SubmitRequest."""
        trials = [{"sequences": each.sequences, "steps": each.steps, "horizon_steps": each.horizon, "more_steps": each.more_steps}
                  for each in self.new_trials]  # fmt: skip
        return {"new_trials": trials, "claims": [{"trial_id": trial, "steps": steps} for trial, steps in self.claims],
                "close_trial_ids": self.close, "cancel_trial_ids": self.cancel, "finish": self.finish}  # fmt: skip


def new_trial(given: Any, steps: int, horizon: int | None, field: str) -> NewTrial:
    """Checked. Raises InvalidArgument, which names the value within `field`."""
    steps = whole_steps(steps, "steps")
    horizon = steps if horizon is None else whole_steps(horizon, "horizon")
    if horizon < steps:
        raise InvalidArgument(f"expected at least the {steps} steps asked for, got {horizon}", "horizon")
    trial = hyper_parameters(given, field)
    segments = 1 + sum(segments_at_most(value, horizon) - 1 for value in trial.values())
    return NewTrial(sequences_of(trial, field), steps, horizon, segments)


def whole_steps(steps: Any, field: str) -> int:
    """Raises InvalidArgument."""
    if isinstance(steps, bool) or not hasattr(steps, "__index__") or not 1 <= steps.__index__() <= STEP_MAX:
        raise InvalidArgument(f"expected a whole number of steps from 1 to 2^53, got {steps!r}", field)
    return steps.__index__()


def cut(batch: Batch) -> list[Batch]:
    """What to submit one after the other in place of the batch. Lists keep their order, over all parts: new trials, claims, closings,
    cancellations; the last part finishes the study if the batch does. A part has at most PART_SEGMENTS_MAX joint segments, claims,
    closings and cancellations, and PART_BYTES_MAX of text, unless it is one trial."""
    parts = [Batch()]
    segments = byte_count = 0

    def part_for(more_segments, more_bytes):
        nonlocal segments, byte_count
        if segments and (segments + more_segments > PART_SEGMENTS_MAX or byte_count + more_bytes > PART_BYTES_MAX):
            parts.append(Batch())
            segments = byte_count = 0
        segments += more_segments
        byte_count += more_bytes
        return parts[-1]

    for trial in batch.new_trials:
        part_for(trial.segments + len(trial.more_steps), trial.byte_count()).new_trials.append(trial)
    for name in ("claims", "close", "cancel"):
        for each in getattr(batch, name):
            getattr(part_for(1, 0), name).append(each)
    parts[-1] = replace(parts[-1], finish=batch.finish)
    return parts


def in_whole_batch(error: Error, parts: list[Batch], before: int) -> Error:
    """A part's error as one of the batch's: places in lists ("trials[3].lr") count from the batch's beginning."""
    match = re.match(r"(\w+)\[(\d+)\]", error.field)
    if match is None or match[1] not in LISTS:
        return error
    index = int(match[2]) + sum(len(getattr(part, LISTS[match[1]])) for part in parts[:before])
    return type(error)(error.message, f"{match[1]}[{index}]{error.field[match.end():]}")
