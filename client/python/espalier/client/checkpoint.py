"""A trial's training state, as a file on this machine. Reading it needs PyTorch; nothing in it is run."""

from __future__ import annotations

import pathlib
import shutil
import tempfile
import weakref
from collections import defaultdict
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

from espalier.client import program
from espalier.errors import InvalidArgument

if TYPE_CHECKING:
    import torch

    from espalier.client.trial import Trial

MODULES_SHOWN = 5  # in messages


class Checkpoint:
    """Made by `trial.checkpoint()`. `step`: after which it was saved; `file`: in the layout of safetensors, as docs/trainer_protocol.md says,
    checked from end to end."""

    def __init__(self, trial: Trial, step: int, file: pathlib.Path):
        self.trial = trial
        self.step = step
        self.file = file

    @cached_property
    def arrays(self) -> dict[str, torch.Tensor]:
        """Every tensor in it, by its place in the state, such as "model.output.weight"; tensors that share memory once. Raises
        CheckpointError."""
        from espalier import safetensors_file

        return safetensors_file.read(str(self.file))

    @cached_property
    def models(self) -> dict[str, dict[str, torch.Tensor]]:
        """The models that the trainer tracked, by the names that they have there: parameters and buffers by name. The state of a trainer in
        C++ does not say what is a model: there it is whatever is named alike, such as "model" and "optimizer"."""
        from espalier import module, state

        if state.TREE in self.arrays:
            return dict(module.found_in(state.unflatten(self.arrays)))
        models: dict[str, dict[str, torch.Tensor]] = defaultdict(dict)
        for place, values in self.arrays.items():
            first, _, rest = place.partition(".")
            models[first][rest] = values
        return dict(models)

    def load_into(self, model: torch.nn.Module, name: str | None = None) -> None:
        """Overwrites the values of the model's parameters and buffers, on whatever device they are, and nothing else: not its mode, say. `name`:
        which of the trainer's models; left out: the one that has just these. Raises InvalidArgument, and changes nothing, where none has."""
        from espalier import module

        fitting = {key: values for key, values in self.models.items() if name in (None, key) and module.fits(model, values)}
        if len(fitting) != 1:
            those = ", ".join(sorted(fitting) if fitting else self._shown())
            wrong = "several have" if fitting else "none has"
            raise InvalidArgument(f"{wrong} the parameters and buffers of this {type(model).__name__}: {those}", "name" if fitting else "model")
        module.overwrite_all(model, next(iter(fitting.values())))

    def _shown(self):
        return [f"{name} ({', '.join(list(values)[:MODULES_SHOWN])}, ...)" for name, values in sorted(self.models.items())]

    def __repr__(self):
        return f"<Checkpoint of trial {self.trial.id} after step {self.step}: {self.file}>"


def export(trial: Trial, step: int | None, train: bool, file: str | PathLike | None, store: str | None) -> Checkpoint:
    """As Trial.checkpoint says: by the program `espalier`, which reaches the store."""
    folder = None
    if file is None:
        folder = tempfile.mkdtemp(prefix="espalier-checkpoint-")
        file = pathlib.Path(folder) / f"trial-{trial.id}.safetensors"
    try:
        told = program.answer("checkpoint", "export", trial.id, file, *(["--step", step] if step is not None else []),
                              *(["--train"] if train else []), *(["--store", store] if store is not None else []),
                              client=trial.study.client)  # fmt: skip
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder)
        raise
    checkpoint = Checkpoint(trial, told["step"], pathlib.Path(file))
    if folder is not None:
        weakref.finalize(checkpoint, shutil.rmtree, folder, ignore_errors=True)
    return checkpoint
