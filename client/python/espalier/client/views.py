"""How studies stand: what the server says of them, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from espalier.client import text
from espalier.client.protocol import name_of

KEEP_WORDS = {"KEEP_BEST": "best", "KEEP_ALL": "all", "KEEP_CLAIMED": "claimed", "KEEP_NONE": "none"}
SCOPE_WORDS = {"SCOPE_NOBODY": "nobody", "SCOPE_STUDY": "study", "SCOPE_TEAM": "team", "SCOPE_EVERYONE": "everyone"}


@dataclass(frozen=True)
class Steps:
    """`claimed`: of all trials, up to their last settled claims; `unique`: shared ones counted once; `trained`: each time it was; of
    these `re_derived`, trained before, and `wasted`, known to be unnecessary; `reused`: of `unique`, trained before the study asked, or by other
    code, whose states its trials begin with."""

    claimed: int
    unique: int
    trained: int
    re_derived: int
    wasted: int
    reused: int


@dataclass(frozen=True)
class Best:
    """The best value of the study's metric, and the trial and step where it was measured."""

    trial_id: int
    metric: str
    value: float
    step: int


@dataclass(frozen=True)
class Reuse:
    """Whose states trials begin with, where there are some on their path: another study, its trainer's code, and the step that none of them
    lies behind (None: there is no limit)."""

    study_id: int
    code_digest: str
    until: int | None


@dataclass(frozen=True)
class Origin:
    """With what a trial begins instead of with Init: the state at `step` that other code left, that of the study which its own study reuses."""

    study_id: int
    code_digest: str
    step: int


@dataclass(frozen=True)
class Summary:
    """A study with its numbers as of when it was asked for. `state`: "running" or "finished"; `cancelled`: it was. `trials`: how many by
    state: waiting, running, idle (open, nothing is waited for), done, failed, cancelled. `merge_rate`: claimed over unique steps, 0 if none is done.
    `stopped`: what its stop rule came to, empty: nothing yet. `held_back`: why no run is begun for it alone, since a quota is reached, empty: it may go on. `reuses`: None: its trials begin at Init. `check`: how far the check of the user's trainer is, empty if it needs none.
    `slot_seconds`: of devices, as charged to it; `shared_seconds`: of those, by runs of which others were charged a part, too; `saved_seconds`: that its
    trials would have taken besides if each were trained alone. `weight`: among the studies of its team.
    Times are seconds."""

    id: int
    name: str
    state: str
    user: str
    trainer: str
    goal: str
    share: str
    trials: dict[str, int]
    steps: Steps
    merge_rate: float
    time_weighted_merge_rate: float
    slot_seconds: float
    shared_seconds: float
    saved_seconds: float
    weight: float
    elapsed_seconds: float
    makespan_bound_seconds: float
    best: Best | None
    stopped: str
    held_back: str
    cancelled: bool
    keep: str
    check: str
    check_text: str
    reuses: Reuse | None
    definition: str = field(repr=False)

    def rows(self) -> list[tuple[str, str]]:
        states = ", ".join(f"{count} {state}" for state, count in self.trials.items() if count)
        rows = [("study", f"{self.id}, {self.name}: {'cancelled' if self.cancelled else self.state} ({self.trainer})")]
        rows += [("stopped", self.stopped)] if self.stopped else []
        rows += [("held back", self.held_back)] if self.held_back else []
        if self.reuses is not None:
            limit = "" if self.reuses.until is None else f" up to step {self.reuses.until}"
            rows.append(("reuses", f"study {self.reuses.study_id} (code {self.reuses.code_digest[:12]}){limit}"))
        rows.append(("trials", states or "none"))
        rows.append(("steps", f"{text.count(self.steps.claimed)} claimed, {text.count(self.steps.unique)} unique, "
                              f"{text.count(self.steps.trained)} trained"))  # fmt: skip
        rows.append(("merge rate", text.number(self.merge_rate)))
        rows.append(("time", f"{text.duration(self.elapsed_seconds)}, {text.duration(self.slot_seconds)} of slots; sharing saved {text.duration(self.saved_seconds)}"))
        if self.best is not None:
            rows.append(("best", f"{self.best.metric} {text.number(self.best.value)}, trial {self.best.trial_id} at step {self.best.step}"))
        if self.check not in ("", "off", "passed"):
            rows.append(("check", f"{self.check}: {self.check_text}"))
        return rows

    def __str__(self):
        return text.table(self.rows())

    def _repr_html_(self):
        return text.html_table([("", ""), *self.rows()])


@dataclass(frozen=True)
class Progress:
    """How far a study is, as it said last. `seconds_left`: estimated; None: not known yet. `warnings`: a sentence each."""

    trials: dict[str, int]
    claimed_steps: int
    unique_steps: int
    trained_steps: int
    seconds_left: float | None
    warnings: list[str]


@dataclass(frozen=True)
class Listing:
    """One study of a list: `client.open_study(listing.id)` opens it. `reuses`: the id of the study whose states its trials begin with."""

    id: int
    name: str
    user: str
    state: str
    trainer: str
    goal: str
    share: str
    trials: dict[str, int]
    claimed_steps: int
    elapsed_seconds: float
    best: Best | None
    reuses: int | None


def summary_of(wire: Any) -> Summary:
    steps = wire.steps
    return Summary(
        id=wire.study_id, name=wire.name, state=wire.state, user=wire.user, trainer=wire.trainer, goal=goal_of(wire.goal),
        share=_share_of(wire.scope), trials=dict(wire.trials_by_state),
        steps=Steps(steps.claimed, steps.unique, steps.trained, steps.re_derived, steps.wasted, steps.reused),
        merge_rate=wire.merge_rate, time_weighted_merge_rate=wire.time_weighted_merge_rate, slot_seconds=wire.slot_seconds,
        shared_seconds=wire.shared_seconds, saved_seconds=wire.saved_seconds, weight=wire.weight,
        elapsed_seconds=wire.elapsed_seconds, makespan_bound_seconds=wire.makespan_bound_seconds, best=_best_of(wire),
        stopped=wire.stopped, held_back=wire.held_back, cancelled=wire.cancelled, keep=KEEP_WORDS.get(name_of("Keep", wire.keep), ""), check=wire.check.state,
        check_text=wire.check.text, reuses=_reuse_of(wire), definition=wire.definition,
    )  # fmt: skip


def progress_of(wire: Any) -> Progress:
    return Progress(dict(wire.trials_by_state), wire.claimed_steps, wire.unique_steps, wire.trained_steps,
                    wire.seconds_left if wire.seconds_left >= 0 else None, list(wire.warnings))  # fmt: skip


def listing_of(wire: Any) -> Listing:
    return Listing(wire.study_id, wire.name, wire.user, wire.state, wire.trainer, goal_of(wire.goal), _share_of(wire.scope),
                   dict(wire.trials_by_standing), wire.claimed_steps, wire.elapsed_seconds, _best_of(wire),
                   wire.reuse_from_study_id or None)  # fmt: skip


def origin_of(wire: Any) -> Origin | None:
    return Origin(wire.origin.study_id, wire.origin.code_digest, wire.origin.step) if wire.HasField("origin") else None


def _reuse_of(wire):
    return Reuse(wire.reuse.study_id, wire.reuse.code_digest, wire.reuse.until_step or None) if wire.HasField("reuse") else None


def goal_of(number: int) -> str:
    return "min" if name_of("Goal", number) == "GOAL_MINIMIZE" else "max"


def _share_of(number):
    return SCOPE_WORDS.get(name_of("Scope", number), "")


def _best_of(wire):
    best = wire.best
    return Best(best.trial_id, best.metric, best.value, best.step) if wire.HasField("best") else None
