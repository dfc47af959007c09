"""A study's trials as a table of pandas. The one file that imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas

from espalier.sequences.sequence import Sequence

if TYPE_CHECKING:
    from espalier.client.study import Study


def trials_dataframe(study: Study) -> pandas.DataFrame:
    """A row for each trial, by its id: the hyper-parameters (numbers as numbers, sequences in the notation), state, steps, horizon, and
    each metric at the last settled step."""
    rows = {}
    for trial in study.trials:
        values = {name: str(value) if isinstance(value, Sequence) else value for name, value in trial.hyper_parameters.items()}
        metrics = trial.metrics.get(trial.steps, {})
        rows[trial.id] = {**values, "state": trial.state, "steps": trial.steps, "horizon": trial.horizon, **metrics}
    frame = pandas.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "trial"
    return frame
