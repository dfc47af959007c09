"""What agents may ask of a service, and what they are told: documents of numbers and texts. Docstrings and annotations are what agents read."""

from __future__ import annotations

import contextlib
import math
import pathlib
import tempfile
import threading
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from espalier.client import program
from espalier.client.client import Client, connect
from espalier.client.retry import RetryPolicy
from espalier.client.study import Study
from espalier.client.trial import Trial
from espalier.errors import Error, InvalidArgument

CALL_PATIENCE_SECONDS = 10.0  # of a service that is away: agents ask again by themselves
WAIT_SECONDS_MAX = 300

StudyFile = Annotated[str | None, Field(description="The study file itself, in YAML. Files that it names are to be absolute paths.")]
StudyPath = Annotated[str | None, Field(description="Instead: the path of a study file on this machine.")]
OfStudy = Annotated[str, Field(description="A study's id, or its name: then the newest of that name.")]
OfTrial = Annotated[int, Field(description="A trial's id, as results gives it.", ge=1)]


class Tools:
    """Each public function is a tool. They connect when they are first used: a service may be started later than the agent. Any thread."""

    def __init__(self, address: str | None, data: str | None):
        self._address, self._data = address, data
        self._lock = threading.Lock()
        self._connected: Client | None = None

    def trainers(self) -> list[dict[str, Any]]:
        """What can be trained here: each trainer with its data, its metrics, and its hyper-parameters with type, default, and whether they are
        fixed at step 0. takes_any: it takes hyper-parameters of any other name, too."""
        return [{"trainer": each.name, "data": each.data, "metrics": each.metrics, "takes_any": each.takes_any,
                 "hyper_parameters": {name: {"type": declared.type.__name__, "default": declared.default, "fixed_at_step_0": declared.initial}
                                      for name, declared in each.hyper_parameters.items()}}
                for each in self._client().trainers()]  # fmt: skip

    def forecast(self, study_file: StudyFile = None, study_path: StudyPath = None) -> dict[str, Any]:
        """What a study would cost, before it runs; nothing is stored. trials; total_steps of all of them, each to its end; unique_steps: those
        that trials share counted once; merge_rate: total over unique, at least 1; trained_steps of the unique ones are trained already, and cost
        nothing, remaining_steps are left; slot_seconds on one slot; critical_path_seconds at the least, however many slots there are;
        checkpoint_bytes at most. null: not known yet. near_misses: sequences that differ by rounding alone, and so do not share: write them
        alike. early_partings: sequences that would share more if they were written another way, which hint says. Errors name the file's line and field."""
        return self._program("study", "forecast", study_file=study_file, study_path=study_path)

    def submit(self, study_file: StudyFile = None, study_path: StudyPath = None) -> dict[str, Any]:
        """Starts a study, which the service carries on by itself, and gives back its id and name at once. The same file, while the study runs,
        is the same study; a running study of that name and other content is an error: cancel it, or choose another name. Errors name the
        file's line and field. It trains, and so uses this service's devices: ask forecast first."""
        return self._program("study", "run", "--detach", study_file=study_file, study_path=study_path)

    def studies(self, count: Annotated[int, Field(description="How many at most.", ge=1, le=1000)] = 20) -> list[dict[str, Any]]:
        """The newest studies first: id, name, state ("running" or "finished"), trainer, goal, trials by state, and the best trial so far."""
        listed = [each for each, _ in zip(self._client().studies(), range(count))]
        return [{"id": each.id, "name": each.name, "state": each.state, "trainer": each.trainer, "goal": each.goal, "trials": each.trials,
                 "best": _best(each.best)} for each in listed]  # fmt: skip

    def results(self, study: OfStudy,
                count: Annotated[int, Field(description="How many trials at most, the best ones first.", ge=0, le=1000)] = 20,
                wait_seconds: Annotated[float, Field(description="Waits so long for the study to finish first.", ge=0, le=WAIT_SECONDS_MAX)] = 0,
                ) -> dict[str, Any]:  # fmt: skip
        """How a study stands. state: "running" or "finished"; trials by state (waiting, running, idle, done, failed, cancelled); steps: claimed of
        all trials, unique where shared ones count once, trained by now; slot_seconds that it took; best: trial, metric, value and step. listed:
        the best trials first, each taken at its last measured step: id, state, steps, horizon, hyper_parameters, metrics there, message of a
        failed one. A metric is null where training diverged."""
        opened = self._opened(study)
        if wait_seconds > 0:
            opened.wait(wait_seconds)
        shown = opened.show()
        return {"id": shown.id, "name": shown.name, "state": shown.state, "trainer": shown.trainer, "goal": shown.goal, "trials": shown.trials,
                "steps": {"claimed": shown.steps.claimed, "unique": shown.steps.unique, "trained": shown.steps.trained},
                "merge_rate": shown.merge_rate, "slot_seconds": shown.slot_seconds, "elapsed_seconds": shown.elapsed_seconds,
                "best": _best(shown.best), "listed": [_trial(each) for each in opened.trials.best_first().first(count)]}  # fmt: skip

    def trial(self, trial: OfTrial) -> dict[str, Any]:
        """One trial as results lists it, and its curve: the metrics at every step that was measured on its way, whoever asked for it."""
        answer = self._client().connection.call("GetTrial", trial_id=trial)
        curve = [{"step": each.step, "metrics": _finite(each.metrics)} for each in answer.metrics]
        return {**_wire(answer.trial), "curve": curve}

    def trained(self, study: OfStudy,
                count: Annotated[int, Field(description="How many pieces at most.", ge=1, le=10_000)] = 200) -> dict[str, Any]:  # fmt: skip
        """What is trained of a study, as the tree that its trials share: pieces, parents first. A piece begins at step start, after its parent (null:
        a root) has come there; hyper_parameters: at a root all that the study tunes, else those that change; trained: [from, to] steps that are
        trained; stored: steps whose states are kept, to go on from; trials: how many pass. New trials that begin like a piece do not train it again.
        more: how many pieces were left out."""
        opened = self._opened(study)
        nodes = self._client().connection.call("GetPlan", study_id=opened.id).nodes
        pieces = [{"id": each.plan_node_id, "parent": each.parent_id or None, "start": each.start_step, "hyper_parameters": dict(each.functions),
                   "trained": [[stage.from_step, stage.to_step] for stage in each.stages if stage.state == "trained"],
                   "stored": list(each.checkpoint_steps), "trials": each.trial_count} for each in nodes[:count]]  # fmt: skip
        return {"pieces": pieces, "more": max(0, len(nodes) - count)}

    def cancel(self, study: OfStudy) -> dict[str, Any]:
        """Ends a study: what it waits for is withdrawn, what is trained stays. One that is finished stays as it is. Gives back its id, name, state."""
        opened = self._opened(study)
        opened.cancel()
        shown = opened.show()
        return {"id": shown.id, "name": shown.name, "state": shown.state}

    def _client(self) -> Client:
        with self._lock:
            if self._connected is None:
                self._connected = connect(self._address, data=self._data, policy=RetryPolicy(call_patience=CALL_PATIENCE_SECONDS))
            return self._connected

    def _opened(self, study) -> Study:
        return self._client().open_study(int(study) if study.isdecimal() else study)

    def _program(self, *command, study_file, study_path):
        if (study_file is None) == (study_path is None):
            raise InvalidArgument("expected either the file itself, or study_path", "study_file")
        with _file_of(study_file) if study_file is not None else contextlib.nullcontext(pathlib.Path(study_path).expanduser()) as path:
            return program.answer(*command, path, client=self._client())


@contextlib.contextmanager
def _file_of(text) -> Iterator[pathlib.Path]:
    with tempfile.TemporaryDirectory(prefix="espalier-mcp-") as folder:
        path = pathlib.Path(folder) / "study.yaml"
        path.write_text(text)
        try:
            yield path
        except Error as error:  # its path says nothing to who gave a text
            raise type(error)(error.message.replace(f"{folder}/", ""), error.field) from None


def _best(best):
    return {"trial": best.trial_id, "metric": best.metric, "value": best.value, "step": best.step} if best is not None else None


def _trial(trial: Trial):
    return _wire(trial._read)


def _wire(trial):
    last = next((each.metrics for each in trial.evaluations if each.step == trial.steps), {})
    return {"id": trial.trial_id, "state": trial.state, "steps": trial.steps, "horizon": trial.horizon_steps,
            "hyper_parameters": dict(sorted(trial.sequences.items())), "metrics": _finite(last), "message": trial.message}  # fmt: skip


def _finite(metrics):
    return {name: value if math.isfinite(value) else None for name, value in sorted(metrics.items())}
