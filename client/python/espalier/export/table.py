"""A study as one table, in the columns of `espalier study export` (client/cli/metric_curves.h): a row for each evaluation of each trial."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import os
import pathlib
from collections.abc import Iterator
from os import PathLike
from typing import Any

from espalier.errors import AlreadyExists
from espalier.client.curves import Curve
from espalier.sequences.values import printed

FIXED = ("trial", "state", "step")


class Columns:
    """`metrics`, `hyper_parameters`: sorted; `names`: of all columns, in their order. A metric that has another column's name is
    "metric:NAME"."""

    def __init__(self, curves: list[Curve]):
        self.metrics = sorted({name for curve in curves for metrics in curve.evaluations.values() for name in metrics})
        self.hyper_parameters = sorted({name for curve in curves for name in curve.sequences})
        taken = {*FIXED, *self.hyper_parameters}
        self.names = [*FIXED, *(f"metric:{name}" if name in taken else name for name in self.metrics), *self.hyper_parameters]

    def rows(self, curves: list[Curve]) -> Iterator[list[Any]]:
        """Of each evaluation the columns' values: metrics as numbers, hyper-parameters as texts, None for what is not there."""
        for curve in curves:
            sequences = [curve.sequences.get(name) for name in self.hyper_parameters]
            for step, metrics in curve.evaluations.items():
                yield [curve.trial, curve.state, step, *map(metrics.get, self.metrics), *sequences]


def write_csv(curves: list[Curve], file: str | PathLike) -> None:
    columns = Columns(curves)
    with new_file(file) as path, open(path, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns.names)
        writer.writerows([_cell(value) for value in row] for row in columns.rows(curves))


def write_jsonl(curves: list[Curve], file: str | PathLike) -> None:
    with new_file(file) as path, open(path, "w") as out:
        for curve in curves:
            for step, metrics in curve.evaluations.items():
                finite = {name: value if math.isfinite(value) else None for name, value in metrics.items()}
                line = {"trial": curve.trial, "state": curve.state, "step": step, "metrics": finite, "sequences": curve.sequences}
                out.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")


@contextlib.contextmanager
def new_file(file: str | PathLike) -> Iterator[pathlib.Path]:
    """A file beside it, which is moved to its place at the end: whole or not at all. Raises AlreadyExists if there is one."""
    place = pathlib.Path(file)
    if place.exists():
        raise AlreadyExists(f"{place} is there already; remove it, or name another", "file")
    beside = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        yield beside
        os.rename(beside, place)
    finally:
        beside.unlink(missing_ok=True)


def _cell(value):
    """Numbers in the shortest form that reads back."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return value
    return printed(value).removesuffix(".0") if math.isfinite(value) else repr(value)
