"""What slots were used for: the runs of a study."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any


@dataclass(frozen=True)
class Run:
    """A path that slots of one device were given to train or to evaluate, for trials of the study and perhaps of others.

    `server`, `slot` (the first of `slots`, from 0): where. `state`: training (or loading, or evaluating: it holds its slots), saving, ended.
    `from_step`, `to_step`: where its path begins and ends; the same: it only evaluated there. `held_from`, `held_until`: when it held its slots, as
    the master heard of it (UTC); None: it holds them. `device_seconds`: of its device time, what was charged to this study so far."""

    id: int
    server: str
    slot: int
    slots: int
    state: str
    from_step: int
    to_step: int
    held_from: datetime
    held_until: datetime | None
    device_seconds: float

    def until(self, now: datetime) -> datetime:
        """As far as it is known at `now`."""
        return self.held_until or now


def run_of(wire: Any) -> Run:
    return Run(wire.run_id, wire.server, wire.slot, wire.slot_count, wire.state, getattr(wire, "from").step, wire.to.step,
               wire.held_from.ToDatetime(timezone.utc), wire.held_until.ToDatetime(timezone.utc) if wire.HasField("held_until") else None,
               wire.device_seconds)  # fmt: skip


def utilization(runs: Iterable[Run], now: datetime) -> float:
    """Of the time from the first run's beginning to the last one's end, the share in which the slots that some run had were held by one;
    0 without runs."""
    listed = list(runs)
    if not listed:
        return 0.0
    begin, end = min(run.held_from for run in listed), max(run.until(now) for run in listed)
    slots = {(run.server, run.slot + index) for run in listed for index in range(run.slots)}
    held = sum((run.until(now) - run.held_from).total_seconds() * run.slots for run in listed)
    return min(1.0, held / (len(slots) * (end - begin).total_seconds())) if end > begin else 0.0
