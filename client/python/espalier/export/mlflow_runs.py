"""A study's trials as runs of MLflow. The one file that imports it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping

from mlflow.entities import Metric, Param
from mlflow.tracking import MlflowClient

from espalier.client.views import Summary
from espalier.errors import AlreadyExists
from espalier.client.curves import Curve
from espalier.export.forks import Fork

STATUS = {"done": "FINISHED", "failed": "FAILED", "cancelled": "KILLED"}  # all others: RUNNING
NO_NAME = re.compile(r"[^\w\-. :/]", re.ASCII)  # what no name may have
MESSAGE_MAX = 5000  # characters of a tag
PARENT_RUN = "mlflow.parentRunId"  # by which MLflow shows a run below another


def write(study: Summary, curves: Iterable[Curve], forks: Mapping[int, Fork], tracking_uri: str, experiment: str) -> dict[int, str]:
    """The run's id of each trial. Raises AlreadyExists where the experiment has runs of the study."""
    client = MlflowClient(tracking_uri)
    found = client.get_experiment_by_name(experiment)
    experiment_id = found.experiment_id if found is not None else client.create_experiment(experiment)
    of_study = {"espalier.study": str(study.id), "espalier.study_name": study.name}
    of_such_id = client.search_runs([experiment_id], f"tags.`espalier.study` = '{study.id}'")
    if any(run.data.tags.get("espalier.study_name") == study.name for run in of_such_id):  # another service counts its studies, too
        raise AlreadyExists(f"{experiment} has runs of study {study.id} already; delete them there, or name another", "experiment")
    runs: dict[int, str] = {}
    for curve in curves:
        run = client.create_run(experiment_id, run_name=f"trial {curve.trial}", tags=of_study | _tags(curve, forks.get(curve.trial), runs))
        runs[curve.trial] = run_id = run.info.run_id
        client.log_batch(run_id, params=_params(curve), metrics=_metrics(curve))  # in as many calls as it takes
        if curve.state in STATUS:
            client.set_terminated(run_id, STATUS[curve.state])
    return runs


def _tags(curve, fork, runs):
    tags = {"espalier.trial": str(curve.trial), "espalier.state": curve.state, "espalier.steps": str(curve.steps)}
    if curve.message:
        tags["espalier.message"] = curve.message[:MESSAGE_MAX]
    if fork is not None:
        tags |= {"espalier.parent_trial": str(fork.parent), "espalier.branch_step": str(fork.step), PARENT_RUN: runs[fork.parent]}
    return tags


def _params(curve) -> list[Param]:
    return [Param(NO_NAME.sub("_", name), text) for name, text in curve.sequences.items()]


def _metrics(curve) -> list[Metric]:
    now = int(time.time() * 1000)
    return [Metric(NO_NAME.sub("_", name), value, now, step) for step, metrics in curve.metrics().items() for name, value in metrics.items()]
