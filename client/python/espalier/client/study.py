"""A study: trials of one trainer, compared by one metric."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

from espalier.client.ask_tell import AskTell, Tuner, drive
from espalier.client.bar import Bar
from espalier.client.batches import Batch, cut, in_whole_batch, new_trial
from espalier.client.draft import Draft
from espalier.client.evaluation import Evaluation
from espalier.client.forecast import Forecast, forecast_of
from espalier.client.future import Future
from espalier.client.importance import importances_of
from espalier.client.protocol import number_of
from espalier.client.request_fields import said_as_arguments
from espalier.client.retry import new_request_id
from espalier.client.runs import Run, run_of
from espalier.client.say import say
from espalier.client.specification import KEEPS, one_of
from espalier.client.study_stream import StudyStream
from espalier.client.trial import Trial
from espalier.client.trials import Trials
from espalier.client.tuners import BuiltIn
from espalier.client.views import Progress, Summary, progress_of, summary_of
from espalier.errors import Error, FailedPrecondition, InvalidArgument
from espalier.sequences.spaces import hyper_parameters, sequences_of
from espalier.sequences.values import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.client.client import Client

BAR_SECONDS = 0.5  # between two looks at how far a study is
HOST_PATIENCE_SECONDS = 10.0  # until a tuner host should have taken a study up


class Study:
    """Made by `client.study(...)`, which asks the server for nothing yet: the first trials, or `create()`, create it, or attach to the
    running study of the same name and content. Any thread may use it."""

    def __init__(self, client: Client, study_id: int | None = None, draft: Draft | None = None):
        self.client = client
        self._id = study_id
        self._draft = draft
        self.attached = study_id is not None
        self._metric = draft.specification.metric if draft is not None else None
        self._tuner: BuiltIn | None = None
        self._own_tuners = (f"ask-tell-{number}" for number in itertools.count())  # names, for as many as there will be

    @property
    def id(self) -> int:
        """Given by the server. Raises FailedPrecondition before the study is created."""
        if self._id is None:
            raise FailedPrecondition("the study is not created yet: submit trials, or call create()")
        return self._id

    def create(self, trials: Iterable[Mapping[str, Any]] = ()) -> Study:
        """Creates it, if it is not yet; returns itself. `trials`: what its trials will be like, where neither a space nor the trainer
        says of which types their values are. Raises InvalidArgument with the field; AlreadyExists: a running study of that name has
        other content."""
        if self._id is None:
            self._create(trials, None)
        return self

    @overload
    def submit(self, trials: Mapping[str, Any], *, steps: int | None = None, horizon: int | None = None) -> Future: ...

    @overload
    def submit(self, trials: Iterable[Mapping[str, Any]] | None = None, *, steps: int | None = None,
               horizon: int | None = None) -> list[Future]: ...  # fmt: skip

    def submit(self, trials=None, *, steps=None, horizon=None):
        """New trials, each to be measured at step `steps`. `trials`: one, a dict of hyper-parameters; several; left out: the study's
        whole grid. `horizon`: the most that they may ever be asked for; left out: `steps`. Raises InvalidArgument with the field,
        FailedPrecondition if the study is finished or cancelled."""
        single = isinstance(trials, Mapping)
        listed = [trials] if single else list(self._grid() if trials is None else trials)
        steps = self._steps(steps)
        batch = Batch(new_trials=[new_trial(each, steps, horizon, f"trials[{index}]") for index, each in enumerate(listed)])
        self.create(listed)
        futures = self._submit(batch) if listed else []
        return futures[0] if single else futures

    def eval(self, trial: Mapping[str, Any], step: int, timeout: float | None = None) -> Evaluation:
        """Waits for the metrics of one trial at step `step`; what is trained of it already is not trained again. Raises as `submit` does;
        TrialFailed, TrialCancelled where there are none; TimeoutError after `timeout` seconds."""
        return self.submit(trial, steps=step).result(timeout)

    @property
    def trials(self) -> Trials:
        """All of them: iterate, or ask for the first, or the best."""
        return Trials(self)

    @property
    def best(self) -> Trial | None:
        """The trial whose metric is best, each taken at its deepest settled claim; None if none has one. Failed and diverged ones are
        none."""
        best = self.trials.best_first().first()
        return best[0] if best and best[0].metric is not None and best[0].metric == best[0].metric else None

    @property
    def metric(self) -> str:
        """Which one decides; empty for a study that was opened, as long as none of its trials has a result."""
        if not self._metric:
            best = self.show().best
            self._metric = best.metric if best is not None else ""
        return self._metric

    def show(self) -> Summary:
        """The study with its numbers, as of now."""
        return summary_of(self.client.connection.call("GetStudy", study_id=self.id).study)

    @property
    def progress(self) -> Progress | None:
        """How far it is, as it said last; None: it has not yet."""
        wire = self._stream.progress
        return progress_of(wire) if wire is not None else None

    def forecast(self, trials: Iterable[Mapping[str, Any]] | None = None, *, steps: int | None = None) -> Forecast:
        """What these trials would cost, each `steps` long; left out: the study's whole grid. Nothing is stored."""
        if self._draft is None:
            raise FailedPrecondition("a forecast is of a study that was made by client.study(...), not of one that was opened")
        listed = list(self._grid() if trials is None else trials)
        steps = self._steps(steps)
        batch = Batch(new_trials=[new_trial(each, steps, None, f"trials[{index}]") for index, each in enumerate(listed)])
        wanted = {"study": self._draft.resolved(listed, for_forecast=True), "trials": batch.request()["new_trials"]}
        with said_as_arguments():
            return forecast_of(self.client.connection.call("Forecast", studies=[wanted]))

    def run(self, tuner: BuiltIn, *, trials: Iterable[Mapping[str, Any]] | None = None, metric: str | None = None, goal: str | None = None,
            wait: bool = True) -> Study:  # fmt: skip
        """Has one of the service's own tuners decide, in the service's tuner host: the study goes on when this process is gone. Shows how
        far it is until it is finished, unless `wait` is false; Ctrl-C leaves it to go on. `trials`: what the tuner may try; left out: the
        study's grid, or so many drawn from its space as the tuner says. `metric`, `goal`: where client.study(...) did not say. Called again
        while the study runs, it attaches to it. Raises InvalidArgument with the field, FailedPrecondition for a study that was opened, or
        created without a tuner."""
        if not isinstance(tuner, BuiltIn):
            raise InvalidArgument(f"expected one of the service's tuners, such as es.ASHA(...), got {shown(tuner)}; study.drive(...) is for "
                                  "your own", "tuner")  # fmt: skip
        if self._draft is None or (self._id is not None and self._tuner is None):
            raise FailedPrecondition("a tuner is given to a study that client.study(...) made and that is not created yet; wait() waits for others")
        self._draft.specification.decide_by(metric, goal)
        chosen = _chosen(trials) if trials is not None else ()
        self._check_source(tuner, chosen)
        if self._id is None:
            self._try_some(tuner, chosen)
        self._create(chosen, tuner)
        if wait:
            self._watch_on()
        return self

    def ask_tell(self, at: Iterable[int] | int | None = None) -> AskTell:
        """For a tuner of your own, written as a loop: submit proposals, and iterate over what they come to, at the steps `at` of each
        trial, in their order. `at`: left out: the study's `steps`."""
        return AskTell(self, self._steps(at), next(self._own_tuners))

    def drive(self, tuner: Tuner, *, at: Iterable[int] | int | None = None, at_once: int = 8, trials: int | None = None) -> None:
        """For a tuner of your own, an object with `ask()` and `tell(proposal, evaluation)`: keeps `at_once` of its trials open, until it
        proposes no more, or has proposed so many `trials`; then finishes the study. It runs in this process, and ends with it; the study
        waits then, and goes on with a process that is started again (AskTell). What the tuner raises is raised, and leaves the study as it
        is."""
        drive(self, tuner, self._steps(at), at_once, trials)

    def wait(self, timeout: float | None = None) -> bool:
        """Until the study is finished. False: not within `timeout` seconds."""
        return self._stream.wait_until_finished(timeout)

    def finish(self) -> None:
        """No more is asked for: the study is finished once what was asked for is settled."""
        self._submit(Batch(finish=True))

    def pin(self, keep: str = "claimed") -> None:
        """Which of its states are never evicted from now on, also when it is finished: "claimed", wherever one of its trials was asked for;
        "all", each trial's last; "best"; "none". What is gone does not come back. Raises InvalidArgument."""
        one_of(keep, KEEPS, "keep")
        self.client.connection.call("PinStudy", request_id=new_request_id(), study_id=self.id, keep=number_of("Keep", KEEPS[keep]))

    def cancel(self) -> None:
        """Withdraws what is waited for, and finishes the study; a finished one stays as it is."""
        self.client.connection.call("CancelStudy", request_id=new_request_id(), study_id=self.id)

    def trials_dataframe(self) -> Any:
        """A pandas.DataFrame with a row for each trial, by its id: hyper-parameters, state, steps, each metric at its last step. Raises
        ModuleNotFoundError without pandas."""
        from espalier.client.dataframe import trials_dataframe

        return trials_dataframe(self)

    def importances(self, at: int | None = None) -> dict[str, float]:
        """Hyper-parameter -> the share, 0 to 1, of the variance of the study's metric that goes with it, the greatest first: of trials that
        were measured at step `at`; left out: where most were, the deepest of these steps. One that is a plain number everywhere counts as that,
        of others there is their text, and each number in it by its place, such as `lr.init`. docs/python_client.md says what is
        computed. Raises FailedPrecondition where nothing is measured, InvalidArgument."""
        return importances_of(self, at)[1]

    def plot_curves(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Each trial's metric over its steps, with matplotlib: a stretch that trials share is drawn once, the best trial thick, a cross
        where training diverged. `metric`: left out: the study's; one that no trial was evaluated by is what steps returned as they trained, such as
        "loss". `ax`: drawn on; left out: a new figure. Asks the server once or twice a trial. Raises ModuleNotFoundError without
        matplotlib, InvalidArgument, which names the metrics."""
        from espalier.client.plots.curves import plot_curves

        return plot_curves(self, metric, ax)

    def plot_tree(self, ax: Axes | None = None) -> Axes:
        """The study's search plan, with matplotlib: steps to the right, a row for each way to the end, with what is new in it; thick what
        several trials share; coloured what is trained, running, waiting; circles where states are stored. `ax`: drawn on; left out: a new
        figure. Raises ModuleNotFoundError without matplotlib."""
        from espalier.client.plots.tree import plot_tree

        return plot_tree(self, ax)

    def runs(self) -> list[Run]:
        """What its slots were used for: every run that has served it so far, in the order in which they were given to servers."""
        return [run_of(wire) for page in self.client.connection.pages("ListRuns", study_id=self.id) for wire in page.runs]

    def plot_utilization(self, ax: Axes | None = None) -> Axes:
        """Its `runs()`, with matplotlib: time to the right, a row for each slot that some run of the study had, so that what is left empty was
        idle, or worked for others; in the title how much of the time the slots were held. `ax`: drawn on; left out: a new figure. Raises
        ModuleNotFoundError without matplotlib."""
        from espalier.client.plots.slots import plot_utilization

        return plot_utilization(self, ax)

    def plot_importance(self, at: int | None = None, ax: Axes | None = None) -> Axes:
        """`importances(at)` as bars, with matplotlib. `ax`: drawn on; left out: a new figure. Raises ModuleNotFoundError without
        matplotlib, and what `importances` does."""
        from espalier.client.plots.importance import plot_importance

        return plot_importance(self, at, ax)

    def __repr__(self):
        if self._id is None and self._draft is not None:
            return f"<Study {self._draft.specification.name}, not created yet>"
        return f"<Study {self._id}>"

    def _repr_html_(self):
        return self.show()._repr_html_() if self._id is not None else repr(self)

    def _create(self, trials, tuner):
        if self._id is not None:
            return
        assert self._draft is not None
        specification = self._draft.resolved(trials, tuner=tuner)
        with said_as_arguments():
            answer = self.client.connection.call("CreateStudy", request_id=new_request_id(), study=specification)
        self._id, self.attached, self._metric, self._tuner = answer.study_id, answer.attached, specification["metric"], tuner

    def _watch_on(self):
        hostless_at = time.monotonic() + HOST_PATIENCE_SECONDS
        try:
            with Bar(self._draft.specification.name, say) as bar:
                while not self._stream.wait_until_finished(BAR_SECONDS):
                    bar.show(self.progress)
                    if hostless_at is not None and time.monotonic() > hostless_at:
                        hostless_at = None
                        if self._stream.batch_count == 0:
                            say(f"no tuner host has taken study {self._id} up yet: `espalier up` starts one, elsewhere `espalier tuner-host` does")
                bar.finish(self.show())
        except KeyboardInterrupt:
            say(f"study {self._id} goes on: client.open_study({self._id}).wait() waits for it, .cancel() ends it")
            raise

    @property
    def _stream(self) -> StudyStream:
        return self.client._stream(self.id)

    def _future(self, trial, claim_id, step):
        future = Future(trial, step)
        self._stream.settle(claim_id, future)
        return future

    def _submit(self, batch: Batch, request_id: str | None = None) -> list[Future]:
        """The futures of the batch's claims, those of new trials first, each trial's in step order. The same `request_id` with the same batch
        gets the first answer again, with another one AlreadyExists; left out: one of its own."""
        parts, request_id = cut(batch), request_id or new_request_id()
        futures = []
        for index, part in enumerate(parts):
            part_id = request_id if len(parts) == 1 else f"{request_id}/{index}"
            try:
                answer = self.client.connection.call("Submit", request_id=part_id, study_id=self.id, **part.request())
            except Error as error:
                raise in_whole_batch(error, parts, index) from None
            trials = [Trial(self, trial) for trial in answer.trial_ids]
            asked = [(trial, step) for trial, each in zip(trials, part.new_trials, strict=True) for step in each.claimed()]
            asked += [(Trial(self, trial), steps) for trial, steps in part.claims]
            futures += [self._future(trial, claim, step) for (trial, step), claim in zip(asked, answer.claim_ids, strict=True)]
        return futures

    def _grid(self):
        space = self._draft.specification.space if self._draft is not None else None
        if space is None or not hasattr(space, "lists"):
            how = " (draw from its space, or say how many the tuner shall)" if space else ""
            raise InvalidArgument("expected trials: the study has no grid of its own" + how, "trials")
        return space

    def _check_source(self, tuner, trials):
        """There is something to try."""
        space = self._draft.specification.space
        if not tuner.draws(None if trials else space):
            return tuner.check(space, len(trials or self._grid()))
        if trials:
            raise InvalidArgument(f"expected these or {tuner.name}.trials, which are drawn, not both", "trials")
        if space is None or not space.has_several:
            raise InvalidArgument("there is nothing to draw from: expected space=es.Space(...) with ranges, or es.Grid(...) with lists",
                                  f"{tuner.name}.trials")  # fmt: skip
        tuner.check(space, tuner.draw_count(is_stopped=bool(self._draft.specification.stop)))

    def _try_some(self, tuner, trials):
        """The service takes such trials: a tuner host that met one which it does not take could say so to nobody."""
        try:
            self.forecast(trials[:1000] or self._draft.specification.space.some(), steps=tuner.longest)
        except InvalidArgument as error:
            trial, _, name = error.field.partition(".")
            of_space = not trials and trial.startswith("trials[")
            raise InvalidArgument(error.message, f"hyper_parameters.{name}" if of_space else error.field) from None

    def _steps(self, steps):
        steps = steps if steps is not None or self._draft is None else self._draft.steps
        if steps is None:
            raise InvalidArgument("is missing; expected how many steps each trial shall take, here or in client.study(...)", "steps")
        return steps


def _chosen(trials):
    listed = list(trials)
    if not listed:
        raise InvalidArgument("expected at least one trial", "trials")
    for index, each in enumerate(listed):
        sequences_of(each, f"trials[{index}]")  # nothing is left to choose
    return [hyper_parameters(each) for each in listed]

