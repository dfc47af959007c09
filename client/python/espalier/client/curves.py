"""A study's trials, each with all that was measured on its way: what is drawn, and what every export writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from espalier.sequences.notation import parse
from espalier.sequences.sequence import Sequence
from espalier.sequences.values import Value

if TYPE_CHECKING:
    from espalier.client.study import Study

TRAINING = "training/"  # before the name of what steps returned


@dataclass(frozen=True)
class Curve:
    """One trial. `state`, `steps`: as those of es.Trial. `message`: why it failed, else empty. `sequences`: the text of each
    hyper-parameter, by name. `evaluations`: step -> metrics by name, whoever asked for them, of all stages that it shares with others as
    of its own. `settled`: the same of what its study asked for, with NaN where training diverged, which is not evaluated. `training`: what its
    steps returned as they were trained, such as loss: name -> step -> value; not read: empty."""

    trial: int
    state: str
    steps: int
    message: str
    sequences: Mapping[str, str]
    evaluations: Mapping[int, Mapping[str, float]]
    settled: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    training: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def values(self) -> dict[str, Value]:
        """Each hyper-parameter that is a plain value as such, and the text of any other."""
        parsed = {name: parse(text) for name, text in self.sequences.items()}
        return {name: self.sequences[name] if isinstance(value, Sequence) else value for name, value in parsed.items()}

    def metrics(self) -> dict[int, dict[str, float]]:
        """Step -> all metrics by name, in order of step: those measured by their own names, `loss` of training as "training/loss"."""
        merged: dict[int, dict[str, float]] = defaultdict(dict)
        for step, metrics in [*self.settled.items(), *self.evaluations.items()]:
            merged[step].update(metrics)
        for name, by_step in self.training.items():
            for step, value in by_step.items():
                merged[step][TRAINING + name] = value
        return dict(sorted(merged.items()))


def read(study: Study, *, training: bool = False) -> Iterator[Curve]:
    """The trials as they were submitted, as they stand now. One call a trial, and, with `training`, some more."""
    connection = study.client.connection
    for listed in study.trials:
        answer = connection.call("GetTrial", trial_id=listed.id)
        trial = answer.trial
        yield Curve(trial.trial_id, trial.state, trial.steps, trial.message, dict(sorted(trial.sequences.items())),
                    _by_step(answer.metrics), _by_step(trial.evaluations), _training(connection, listed.id) if training else {})  # fmt: skip


def _by_step(evaluations):
    return {each.step: dict(sorted(each.metrics.items())) for each in evaluations}


def _training(connection, trial):
    metrics: dict[str, dict[int, float]] = defaultdict(dict)
    after = 0
    while (answer := connection.call("GetTrainingMetrics", trial_id=trial, after=after)).series:
        for series in answer.series:
            metrics[series.name].update(zip(series.steps, series.values))
        after = answer.next
    return {name: dict(sorted(metrics[name].items())) for name in sorted(metrics)}
