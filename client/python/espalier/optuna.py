"""Optuna and Espalier: Optuna's samplers and pruners drive a study (`run`), and a study opens as one of Optuna's (`study_of`), so that its
plots and its dashboard show it."""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from espalier.client.evaluation import Evaluation
from espalier.client.parameters import parameters_of
from espalier.client.study import Study
from espalier.client.trial import OPEN, Trial
from espalier.errors import InvalidArgument

TRIAL_ATTRIBUTE = "espalier_trial"  # a user attribute: the trial's id
MESSAGE_ATTRIBUTE = "espalier_message"  # another: why it failed
DIRECTIONS = {"max": "maximize", "min": "minimize"}
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)  # what has a value


def run(study: Study, space: Callable[[optuna.Trial], Mapping[str, Any]], *, trials: int, at: Iterable[int] | int | None = None,
        at_once: int = 8, sampler: optuna.samplers.BaseSampler | None = None, pruner: optuna.pruners.BasePruner | None = None,
        optuna_study: optuna.Study | None = None) -> optuna.Study:  # fmt: skip
    """Tries `trials` trials that Optuna proposes, `at_once` of them at a time, finishes the study, and gives back Optuna's.

    `study`: of client.study(..., metric=..., goal=...). `space`: what a trial is, by Optuna's suggestions. `at`: the steps at which a trial is
    measured (left out: the study's `steps`): each measurement is reported once, in step order; at all but the last the pruner is asked, and
    what is pruned is cancelled, while training goes on meanwhile. The last one is what Optuna is told; NaN at any of them, where training
    diverged, makes Optuna's trial fail and withdraws the trial, as does a trial that fails (`espalier_message` among its user attributes says
    why). `sampler`, `pruner`: Optuna's defaults if left out; no pruning where `at` is one step. One that stops Optuna's study, as a grid that is
    exhausted does, ends the run sooner. `optuna_study`: goes on with that one instead. Where `space` raises optuna.TrialPruned, the trial is
    pruned, counts, and is not trained; what else it raises is raised, and leaves the study as it is. Runs in this process, and ends with it. Raises InvalidArgument, FailedPrecondition."""
    metric, goal = _decides(study)
    direction = DIRECTIONS[goal]
    if optuna_study is None:
        optuna_study = optuna.create_study(direction=direction, sampler=sampler, pruner=pruner)
    elif sampler is not None or pruner is not None:
        raise InvalidArgument("expected either this or a sampler and a pruner: it has its own", "optuna_study")
    elif [each.name.lower() for each in optuna_study.directions] != [direction]:
        raise InvalidArgument(f"expected one that is to {direction} {metric}, as the study is", "optuna_study")
    steps = study._steps(at)
    steps = [steps] if isinstance(steps, int) else list(steps)
    tuner = _Tuner(optuna_study, space, metric, max(steps, default=0), trials)
    with contextlib.ExitStack() as at_end:
        optuna_study.stop = tuner.stop  # its own is for its own loop
        at_end.callback(delattr, optuna_study, "stop")
        at_end.callback(tuner.give_up)
        study.drive(tuner, at=steps, at_once=at_once)
    return optuna_study


def _decides(study):
    if study._draft is None:
        return study.metric, study.show().goal
    said = study._draft.specification
    for name in ("metric", "goal"):
        if getattr(said, name) is None:
            raise InvalidArgument("is missing; expected it in client.study(...)", name)
    return said.metric, said.goal


class _Proposal(dict):
    """A trial's hyper-parameters, with Optuna's trial that they come from."""

    def __init__(self, hyper_parameters, trial):
        super().__init__(hyper_parameters)
        self.trial = trial


class _Tuner:
    """Optuna, as study.drive(...) needs it."""

    def __init__(self, optuna_study, space, metric, last, trials):
        self._optuna_study, self._space, self._metric, self._last, self._left = optuna_study, space, metric, last, trials
        self._open = {}  # number -> Optuna's trial that was asked for, and not told
        self._stopped = False

    def stop(self) -> None:
        """A sampler or a pruner wants no more trials."""
        self._stopped = True

    def ask(self) -> _Proposal | None:
        while self._left > 0 and not self._stopped:
            self._left -= 1
            trial = self._optuna_study.ask()
            self._open[trial.number] = trial
            try:
                return _Proposal(self._space(trial), trial)
            except optuna.TrialPruned:
                self._end(trial, state=TrialState.PRUNED)
        return None

    def tell(self, proposal: _Proposal, evaluation: Evaluation) -> bool:
        trial = proposal.trial
        if TRIAL_ATTRIBUTE not in trial.user_attrs:
            trial.set_user_attr(TRIAL_ATTRIBUTE, evaluation.trial_id)
        if evaluation.state != "done":
            trial.set_user_attr(MESSAGE_ATTRIBUTE, evaluation.message)
            return self._end(trial, state=TrialState.FAIL)
        value = evaluation.value(self._metric)
        trial.report(value, evaluation.step)
        if math.isnan(value):  # it diverged: a pruner might call that pruned, and without one it would be trained to its end
            return self._end(trial, state=TrialState.FAIL)
        if evaluation.step == self._last:
            return self._end(trial, value)
        return self._end(trial, state=TrialState.PRUNED) if trial.should_prune() else True

    def give_up(self) -> None:
        """What is not told yet will not be."""
        for trial in list(self._open.values()):
            self._end(trial, state=TrialState.FAIL)

    def _end(self, trial, value=None, state=None):
        del self._open[trial.number]
        self._optuna_study.tell(trial, value, state=state)
        return False


def study_of(study: Study, storage: str | optuna.storages.BaseStorage | None = None) -> optuna.Study:
    """The study with its trials as they are now, as one of Optuna's: in memory, or in a `storage` of Optuna's that has none of its name. A
    trial that went to its horizon is complete, one that ended before is pruned; it failed if it has failed, or came to NaN. Its value: the
    metric at its last step; its user attribute `espalier_trial`: its id. Parameters: a hyper-parameter that is a plain number in all trials, as
    such; of any other its text, and each number in it, by its place: `lr` is "Exponential(0.1, 0.95)", `lr.init` 0.1, `lr.gamma` 0.95."""
    shown = study.show()
    listed = list(study.trials)
    parameters = parameters_of([trial.hyper_parameters for trial in listed])
    distributions = _distributions(parameters)
    optuna_study = optuna.create_study(storage=storage, study_name=shown.name, direction=DIRECTIONS[shown.goal])
    for trial, own in zip(listed, parameters, strict=True):
        optuna_study.add_trial(_frozen(trial, own, {name: distributions[name] for name in own}, study.metric))
    return optuna_study


def _frozen(trial: Trial, parameters, distributions, metric) -> FrozenTrial:
    values = {step: metrics[metric] for step, metrics in trial.metrics.items() if metric in metrics}
    value = trial.metric if trial.metric is not None and not math.isnan(trial.metric) else None
    return optuna.trial.create_trial(state=(state := _state(trial, value)), value=value if state in FINISHED else None, params=parameters,
                                     distributions=distributions, intermediate_values=values, user_attrs={TRIAL_ATTRIBUTE: trial.id})  # fmt: skip


def _state(trial, value):
    if trial.state in OPEN:
        return TrialState.RUNNING
    if trial.state == "failed" or value is None:
        return TrialState.FAIL
    return TrialState.COMPLETE if trial.steps >= trial.horizon else TrialState.PRUNED


def _distributions(parameters: list[dict[str, str | float]]) -> dict[str, BaseDistribution]:
    """Of each parameter, over what all trials have."""
    values = defaultdict(set)
    for each in parameters:
        for name, value in each.items():
            values[name].add(value)
    return {name: _distribution(found) for name, found in values.items()}


def _distribution(values):
    if any(isinstance(each, str) for each in values):
        return CategoricalDistribution(sorted(values))
    whole = all(isinstance(each, int) for each in values)
    return IntDistribution(min(values), max(values)) if whole else FloatDistribution(min(values), max(values))
