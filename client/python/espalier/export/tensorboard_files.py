"""A study's trials as runs of TensorBoard. The one file that imports it."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Iterable, Iterator
from os import PathLike

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.plugins.text.summary_v2 import text_pb
from tensorboard.summary.writer.record_writer import RecordWriter

from espalier.client.curves import Curve

FILE = "events.out.tfevents.espalier"  # TensorBoard knows event files by the middle of their name
VERSION = "brain.Event:2"


def write(curves: Iterable[Curve], folder: str | PathLike) -> list[pathlib.Path]:
    """A folder for each trial, which are given back."""
    written_at = time.time()
    runs = []
    for curve in curves:
        run = pathlib.Path(folder) / f"trial-{curve.trial}"
        run.mkdir(parents=True, exist_ok=True)
        beside = run / f".{FILE}.tmp"
        with open(beside, "wb") as out:
            writer = RecordWriter(out)
            for event in _events(curve, written_at):
                event.wall_time = written_at
                writer.write(event.SerializeToString())
        os.replace(beside, run / FILE)
        runs.append(run)
    return runs


def _events(curve, written_at) -> Iterator[Event]:
    yield Event(file_version=VERSION)
    yield Event(summary=hparams_pb(curve.values(), trial_id=str(curve.trial), start_time_secs=written_at))
    yield Event(summary=text_pb("hyper-parameters", _in_markdown(curve)))
    for step, metrics in curve.metrics().items():
        yield Event(step=step, summary=Summary(value=[Summary.Value(tag=name, simple_value=value) for name, value in metrics.items()]))


def _in_markdown(curve):
    rows = [f"| {name} | `{text.replace('|', chr(92) + '|')}` |" for name, text in curve.sequences.items()]
    return "\n".join([f"trial {curve.trial}: {curve.state} at step {curve.steps}", "", "| hyper-parameter | sequence |", "| --- | --- |", *rows])
