"""The table as a Parquet file. The one file that imports pyarrow."""

from __future__ import annotations

from os import PathLike

import pyarrow
import pyarrow.parquet

from espalier.client.curves import Curve
from espalier.export.table import Columns, new_file


def write(curves: list[Curve], file: str | PathLike) -> None:
    columns = Columns(curves)
    types = [pyarrow.int64(), pyarrow.string(), pyarrow.int64(), *(pyarrow.float64() for _ in columns.metrics),
             *(pyarrow.string() for _ in columns.hyper_parameters)]  # fmt: skip
    rows = list(columns.rows(curves))
    arrays = [pyarrow.array([row[place] for row in rows], kind) for place, kind in enumerate(types)]
    with new_file(file) as path:
        pyarrow.parquet.write_table(pyarrow.table(arrays, names=columns.names), path)
