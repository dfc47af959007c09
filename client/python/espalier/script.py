"""Programs that can only be started, in any language: `Old = es.script("./train --fast", ...)` is a trainer whose every step is one run.

The program is started as

    COMMAND --from A --to B --values FILE [--load FILE] [--save FILE]

It takes over the state in the file after --load (without it, it begins), trains from step A to step B, and writes its state to the file
after --save. A and B are equal where it only begins (--save) or only measures (--load). The file of values is JSON:
{"values": name -> value, "initial": the same at step 0, "updates": of a step, or null where a step is an epoch}. Each line of its
output that is a JSON object has metrics, the last counts; other lines are its log. A status other than 0 fails what was asked."""

import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import torch

from espalier.failure import TrainerError
from espalier.fetch import die_with_parent
from espalier.safetensors_file import bytes_of
from espalier.trainer import Trainer

LINES_OF_FAILURE = 100
FOLDER = "espalier-script-"


def script(command, *, hyper_parameters=None, metrics=(), writes_safetensors=False, version=None, data=None, files=(), ignore_packages=()):
    """A trainer that studies call as the variable that this is assigned to.
    `command`: words, or a text of them; those that are paths, seen from the file that calls this, are part of the code.
    `writes_safetensors`: the program's states are such files, and equal for equal trainings; else sharing stops at the study, and
    `data` is of no use. Other arguments are as the attributes of es.Trainer. Raises TrainerError."""
    caller = sys._getframe(1).f_globals
    folder = pathlib.Path(caller["__file__"]).resolve().parent
    words = shlex.split(command) if isinstance(command, str) else list(map(str, command))
    own = [word for word in words if not os.path.isabs(word) and (folder / word).is_file()]
    if data is not None and not writes_safetensors:
        raise TrainerError("data: what a program saves is known to be equal for equal trainings only if it writes_safetensors=True")
    return type("Script", (ScriptTrainer,), {
        "__module__": caller["__name__"], "is_named_by_variable": True, "writes_safetensors": writes_safetensors,
        "command": [str(folder / word) if word in own else word for word in words], "hyper_parameters": hyper_parameters or {},
        "metrics": metrics, "version": version, "data": data, "files": (*files, *own), "ignore_packages": ignore_packages,
    })  # fmt: skip


class ScriptTrainer(Trainer):
    command = ()
    writes_safetensors = False

    def init(self, hp):
        _remove_what_others_left()
        self.folder = tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-")
        self.state = StateFile(pathlib.Path(self.folder) / "state")
        self.initial, self.values, self.reached = hp, dict(hp), 0
        self._run(0, saves=True)
        self.track(self.state)
        self.track_attributes("reached")

    def setup(self, changed):
        self.values.update(changed)

    def train(self):
        metrics = self._run(self.reached + 1, saves=True)
        self.reached += 1
        return metrics

    def evaluate(self):
        return self._run(self.reached, saves=False)

    def _close(self):
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)

    def _run(self, end, *, saves):
        """One run of the program, from where the training stands to `end`. Returns its metrics."""
        values, saved = (pathlib.Path(self.folder) / name for name in ("values.json", "saved"))
        values.write_text(json.dumps({"values": self.values, "initial": self.initial, "updates": self.step_meaning.updates}))
        command = [*self.command, "--from", str(self.reached), "--to", str(end), "--values", str(values)]
        command += ["--load", str(self.state.path)] if self.state.path.exists() else []
        command += ["--save", str(saved)] if saves else []
        metrics = _metrics_of(command)
        if saves:
            self._take(saved)
        return metrics

    def _take(self, saved):
        if not saved.is_file():
            raise TrainerError(f"{self.command[0]} wrote no file {saved}, as --save says")
        if self.writes_safetensors and not _is_safetensors(saved):
            raise TrainerError(f"{self.command[0]} is said to write safetensors, but what it wrote after --save is something else")
        os.replace(saved, self.state.path)


class StateFile:
    """A file whose content is state."""

    def __init__(self, path):
        self.path = path

    def state_dict(self):
        size = self.path.stat().st_size
        return {"bytes": torch.from_file(str(self.path), size=size, dtype=torch.uint8) if size else torch.empty(0, dtype=torch.uint8)}

    def load_state_dict(self, saved):
        self.path.write_bytes(bytes_of(saved["bytes"]))


def _metrics_of(command):
    """Of a run. Raises TrainerError, with the end of what the program said."""
    metrics, said = {}, collections.deque(maxlen=LINES_OF_FAILURE)
    try:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", preexec_fn=die_with_parent) as program:  # fmt: skip
            for line in program.stdout:
                if (found := _json_object(line)) is not None:
                    metrics.update(found)
                else:
                    said.append(line)
                    print(line, end="", flush=True)
    except OSError as error:
        raise TrainerError(f"{command[0]} cannot be started: {error}") from None
    if program.returncode != 0:
        raise TrainerError(f"{shlex.join(command)} ended with {program.returncode}:\n{''.join(said)}")
    return metrics


def _is_safetensors(path):
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return length < path.stat().st_size and _json_object(file.read(length)) is not None


def _json_object(line):
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _remove_what_others_left():
    """Folders of workers that were killed."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        pid = re.match(rf"{FOLDER}(\d+)-", folder.name)
        if pid and not os.path.exists(f"/proc/{pid[1]}"):
            shutil.rmtree(folder, ignore_errors=True)
