"""What a study has measured, for other tools: `es.export.csv(study, "trials.csv")`, and so on (docs/exports.md). Each writes what there is now.
A trial's curve is whole: what it shares with other trials is in it as if it had been trained alone."""

from __future__ import annotations

import importlib
import pathlib
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from espalier.client.study import Study

__all__ = ["csv", "jsonl", "mlflow", "parquet", "tensorboard", "wandb"]


def csv(study: Study, file: str | PathLike) -> None:
    """A row for each evaluation of each trial, as `espalier study export` writes it: trial, state, step, the metrics, the hyper-parameters.
    Raises AlreadyExists if there is such a file."""
    _table().write_csv(_read(study), file)


def jsonl(study: Study, file: str | PathLike) -> None:
    """The same as a JSON document a line, as `espalier study export --format jsonl` writes it; a metric that is not finite is null. Raises
    AlreadyExists if there is such a file."""
    _table().write_jsonl(_read(study), file)


def parquet(study: Study, file: str | PathLike) -> None:
    """The table of `csv` as a Parquet file: trial and step as whole numbers, metrics as floating ones (null where there is none), all else as
    texts. Raises AlreadyExists if there is such a file, ModuleNotFoundError without pyarrow."""
    _load("parquet", "pyarrow").write(_read(study), file)


def tensorboard(study: Study, folder: str | PathLike) -> list[pathlib.Path]:
    """Event files of TensorBoard, a folder `trial-ID` below `folder` for each trial, which are given back: each metric at its steps, those of
    training as "training/NAME", and the hyper-parameters, for its HParams and Text views. Written again, the files are replaced. Raises
    ModuleNotFoundError without tensorboard."""
    return _load("tensorboard", "tensorboard").write(_read(study, training=True), folder)


def mlflow(study: Study, tracking_uri: str, experiment: str | None = None, *, forks: bool = True) -> dict[int, str]:
    """Runs of MLflow, one a trial, whose ids are given back by the trial's: the hyper-parameters' texts as params, each metric at its steps,
    and tags `espalier.study`, `espalier.study_name`, `espalier.trial`, `espalier.state`, `espalier.steps`. `tracking_uri`: such as
    "sqlite:///mlflow.db" or a server's. `experiment`: left out: the study's name. `forks`: a trial that begins as one before it is a child run
    of that one's, with tags `espalier.parent_trial` and `espalier.branch_step`; it takes the program `espalier`. Raises AlreadyExists where
    the experiment has runs of the study, NotFound where that program is not installed, ModuleNotFoundError without mlflow-skinny."""
    writer = _load("mlflow", "mlflow")
    curves = _read(study, training=True)
    shown = study.show()
    return writer.write(shown, curves, _forks(curves) if forks else {}, tracking_uri, shown.name if experiment is None else experiment)


def wandb(study: Study, folder: str | PathLike, project: str | None = None, *, forks: bool = True) -> dict[int, str]:
    """Files of Weights & Biases, which need no network; `wandb sync FOLDER/wandb/offline-run-*` sends them. A run for each trial, of ids that
    are given back by the trial's, in the study's group: the hyper-parameters as its config, each metric at its steps. `project`: left out:
    "espalier". `forks`: a trial that begins as one before it has the tag "fork of RUN at STEP", and `espalier.parent_trial` and
    `espalier.branch_step` in its config; it takes the program `espalier`. Raises NotFound where that is not installed, ModuleNotFoundError
    without wandb."""
    writer = _load("wandb", "wandb")
    curves = _read(study, training=True)
    parts = _forks(curves) if forks else {}
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    return writer.write(study.show(), curves, parts, folder, "espalier" if project is None else project)


_WRITERS = {"parquet": "parquet_file", "tensorboard": "tensorboard_files", "mlflow": "mlflow_runs", "wandb": "wandb_files"}


def _load(extra: str, package: str) -> Any:
    """What writes it. Raises ModuleNotFoundError, which says what to install."""
    try:
        return importlib.import_module(f"espalier.export.{_WRITERS[extra]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise ModuleNotFoundError(f"es.export.{extra} needs {package}: pip install 'espalier-hpo[{extra}]'", name=error.name) from None


def _table() -> Any:
    return importlib.import_module("espalier.export.table")


def _read(study, training=False):
    from espalier.client.curves import read

    return list(read(study, training=training))


def _forks(curves):
    from espalier.export.study_forks import forks_of

    return forks_of(curves)
