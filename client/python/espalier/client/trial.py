"""A trial: what it is, how it stands, and going on from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from espalier.client import text
from espalier.client.batches import Batch, whole_steps
from espalier.client.retry import new_request_id
from espalier.client.views import Origin, origin_of
from espalier.errors import InvalidArgument
from espalier.sequences.notation import parse
from espalier.sequences.sequence import Sequence
from espalier.sequences.spaces import sequences_of
from espalier.sequences.values import Value, shown

if TYPE_CHECKING:
    from espalier.client.checkpoint import Checkpoint
    from espalier.client.future import Future
    from espalier.client.study import Study

OPEN = ("waiting", "running", "idle")


class Trial:
    """`id` is known at once; everything else is as it was when it was read: with the list that the trial came from, or when it was first
    asked for. `refresh()` reads it again."""

    def __init__(self, study: Study, trial_id: int, wire: Any = None):
        self.study = study
        self.id = trial_id
        self._wire = wire

    def refresh(self) -> Trial:
        """Reads it again. Raises NotFound."""
        self._wire = self.study.client.connection.call("GetTrial", trial_id=self.id).trial
        return self

    @property
    def _read(self):
        return self._wire if self._wire is not None else self.refresh()._wire

    @property
    def state(self) -> str:
        """waiting, running, idle (open, nothing is waited for), done, failed or cancelled."""
        return self._read.state

    @property
    def steps(self) -> int:
        """The last settled claim's step; 0 if none."""
        return self._read.steps

    @property
    def horizon(self) -> int:
        """The most steps that its study may ask for."""
        return self._read.horizon_steps

    @property
    def hyper_parameters(self) -> dict[str, Value | Sequence]:
        """As submitted; those left out are at the trainer's defaults."""
        return {name: parse(text) for name, text in sorted(self._read.sequences.items())}

    @property
    def metric(self) -> float | None:
        """The study's metric at `steps`; None if there is none."""
        return self._read.metric if self._read.HasField("metric") else None

    @property
    def metrics(self) -> dict[int, dict[str, float]]:
        """Step -> metrics, of every settled claim."""
        return {each.step: dict(each.metrics) for each in self._read.evaluations}

    @property
    def state_sha256(self) -> str:
        """Of the training state at `steps`, equal for equal trainings; empty until that state is stored, which is after the result is known."""
        return self._read.state_sha256

    @property
    def origin(self) -> Origin | None:
        """With what its training begins, where its study reuses another's states; None: with Init."""
        return origin_of(self._read)

    @property
    def message(self) -> str:
        """Why it failed; empty if it did not."""
        return self._read.message

    def extend(self, steps: int) -> Future:
        """Its metric at a later step: in its study, if the trial is open and may go so far; else in a new study of its own, which shares
        all that is trained. Raises InvalidArgument, FailedPrecondition."""
        steps = whole_steps(steps, "steps")
        self.refresh()
        if self.state in OPEN and self.steps < steps <= self.horizon:
            return self.study._submit(Batch(claims=[(self.id, steps)]))[0]
        return self._continue([{"steps": steps}], f"trial-{self.id}-extended")[0]

    def branch(self, at: int | Iterable[int], change: Mapping[str, Any] | None = None, *, steps: int | None = None,
               decay: float | None = None, shapes: Iterable[str] = ("sqrt",), parameter: str = "lr", end: float = 0.0,
               name: str | None = None) -> list[Future]:  # fmt: skip
        """Another way from step `at` on; of several steps, and of several shapes, one branch each, in a new study. `change`:
        hyper-parameters that change there, on their own clocks. `decay`: `parameter` cools down to `end` over this share of the
        branch's whole length. `steps`: how far, if not as far as the trial goes itself, or to the decay's end.
        Raises InvalidArgument, FailedPrecondition."""
        if not change and decay is None:
            raise InvalidArgument("what shall change: expected values, such as {'lr': 0.01}, or a decay, or both", "change")
        base: dict[str, Any] = {"sequences": sequences_of(change or {}, "change")}
        if steps is not None:
            base["steps"] = whole_steps(steps, "steps")
        ends = [{}]
        if decay is not None:
            ends = [{"decay": {"parameter": parameter, "share": decay, "shape": shape, "end": end}} for shape in _listed(shapes)]
        continuations = [{**base, **each, "from_step": whole_steps(step, "at")} for step in _listed(at) for each in ends]
        if not continuations:
            raise InvalidArgument(f"expected at least one step, got {shown(at)}", "at")
        return self._continue(continuations, name or f"trial-{self.id}-branched")

    def checkpoint(self, step: int | None = None, *, train: bool = False, file: str | PathLike | None = None, store: str | None = None) -> Checkpoint:
        """Its training state after `step`, brought to this machine; left out: the last that is stored. `train`: where it is not stored (any
        more) it is trained to there once more, as a study of its own. `file`: where to, which must not be there yet; left out: a temporary
        one, that goes with what is returned. `store`: where the checkpoints are, as node managers' configuration files say it; left out: as
        the service on this machine says. Raises FailedPrecondition with what is wrong, NotFound where the program `espalier` is not
        installed here."""
        from espalier.client.checkpoint import export

        return export(self, step, train, file, store)

    def close(self) -> None:
        """It will not be asked for more: its state need not be kept for that."""
        self.study._submit(Batch(close=[self.id]))

    def cancel(self) -> None:
        """As closing, and what it waits for is withdrawn."""
        self.study._submit(Batch(cancel=[self.id]))

    def __repr__(self):
        if self._wire is None:
            return f"<Trial {self.id} of study {self.study.id}>"
        sequences = ", ".join(f"{name}={text}" for name, text in sorted(self._wire.sequences.items()))
        metric = f", metric {self.metric:.5g}" if self.metric is not None else ""
        return f"<Trial {self.id} of study {self.study.id}: {sequences}; {self.state} at step {self.steps}{metric}>"

    def _repr_html_(self):
        rows = [("trial", f"{self.id} of study {self.study.id}"), ("state", f"{self.state} at step {self.steps} of {self.horizon}")]
        rows += sorted(self._read.sequences.items())
        rows += [(name, text.number(value)) for name, value in sorted(self.metrics.get(self.steps, {}).items())]
        rows += [("message", self.message)] if self.message else []
        return text.html_table([("", ""), *rows])

    def _continue(self, continuations, name):
        definition = {"study": name, "continues": {"trial": self.id, "branches": continuations}}
        answer = self.study.client.connection.call(
            "ContinueTrial", request_id=new_request_id(), trial_id=self.id, name=name, continuations=continuations,
            definition=json.dumps(definition, sort_keys=True, separators=(",", ":")))  # fmt: skip
        study = self.study.client.open_study(answer.study_id)
        wanted = zip(answer.trial_ids, answer.claim_ids)
        return [study._future(Trial(study, trial), claim, None) for trial, claim in wanted]


def _listed(given):
    return [given] if isinstance(given, str) or not hasattr(given, "__iter__") else list(given)
