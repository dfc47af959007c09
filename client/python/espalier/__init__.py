"""Espalier's Python package: bring PyTorch training code to a service that trains trees, not trials. `import espalier as es`."""

import importlib

from espalier.failure import Finished
from espalier.hyper_parameters import initial, sequence
from espalier.identity import files
from espalier.loader import ResumableLoader
from espalier.loop_form import batches, evaluate, loop, report, setup, steps, track
from espalier.loaded_once import once
from espalier.progress import heartbeat
from espalier.trainer import Trainer

DataLoader = ResumableLoader  # for scripts that change nothing but the import

__all__ = ["DataLoader", "Finished", "ResumableLoader", "Trainer", "batches", "evaluate", "files", "heartbeat", "initial", "loop", "once", "report",
           "sequence", "setup", "steps", "track"]  # fmt: skip


def __getattr__(name):
    """`es.lightning` is imported when it is first asked for: the package itself needs no framework."""
    if name in ("accelerate", "lightning", "transformers"):
        return importlib.import_module(f"espalier.{name}")
    raise AttributeError(f"module 'espalier' has no attribute {name!r}")
