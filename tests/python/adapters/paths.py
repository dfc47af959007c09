"""Where the adapters' tests find what the other tests of the package have. Imported first."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
TRAINERS = HERE / "trainers"
OTHERS = [HERE.parent, HERE.parent / "trainers", HERE.parents[2] / "client" / "python"]
sys.path[:0] = map(str, [TRAINERS, *OTHERS])
