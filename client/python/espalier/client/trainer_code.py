"""Trainers in the user's own code: found, packed, sent, and described by the servers that would run them. As client/trainer_code.h
does for study files."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from espalier.client import notebook_code
from espalier.client.connection import Connection
from espalier.client.retry import new_request_id
from espalier.errors import FailedPrecondition, InvalidArgument, NotFound
from espalier.sequences.values import shown

SERVER_PATIENCE_SECONDS = 30.0  # of one that has just started
PAUSE_FIRST, PAUSE_MAX = 0.05, 1.0
MACHINE_FILES = ("/etc/machine-id", "/proc/sys/kernel/random/boot_id")


class Place(NamedTuple):
    """A class or a function in a file; without a name, a program that can only be started. `trainer`: the class, where this process has
    it; else the file is imported by another. `source`: what the file would hold, which is none: it was written in a notebook."""

    file: pathlib.Path
    name: str
    trainer: type | None = None
    source: str | None = None

    def __str__(self):
        return self.named(str(self.file))

    def named(self, file: str) -> str:
        return f"{file}:{self.name}" if self.name else f"script:{file}"


class Packed(NamedTuple):
    """`python`: the interpreter that has imported the code; `data_seen`: the data's digest, empty if it is not here; `data`: paths that
    are to be found beside the code."""

    archive: bytes
    python: str
    data_seen: str
    data: list[str]


def place_of(trainer: Any) -> Place | None:
    """Of "FILE.py:NAME", of "script:FILE", of a subclass of es.Trainer, or of a function with @es.loop. None for the name of a trainer
    that servers have of their own. Raises InvalidArgument."""
    if isinstance(trainer, str) and trainer.startswith("script:"):
        return _place_of_program(trainer.removeprefix("script:"))
    if isinstance(trainer, str):
        return _place_of_text(trainer.removeprefix("python:")) if ".py:" in trainer else None
    trainer_class = getattr(trainer, "espalier_trainer", trainer)
    if not isinstance(trainer_class, type) or not hasattr(trainer_class, "hyper_parameters"):
        raise InvalidArgument(f"expected a trainer's name, FILE.py:NAME, a subclass of es.Trainer or a function with @es.loop(...), "
                              f"got {shown(trainer)}", "trainer")  # fmt: skip
    module = sys.modules.get(trainer_class.__module__)
    file = getattr(module, "__file__", None)
    name = next((name for name, value in vars(module).items() if value is trainer and not name.startswith("_")), None)
    if name is None:
        raise InvalidArgument(f"{file or 'the notebook'} has no variable that is {shown(trainer)}: a trainer is found by its name", "trainer")
    if file is None:
        return Place(pathlib.Path.cwd() / notebook_code.FILE, name, trainer_class, notebook_code.source_of(name, vars(module)))
    return Place(pathlib.Path(file).resolve(), name, trainer_class)


def _place_of_program(file):
    path = pathlib.Path(file).expanduser().absolute()
    if not path.is_file():
        raise InvalidArgument(f"expected script:FILE, a program that can be started; there is no {path}", "trainer")
    return Place(path, "")


def _place_of_text(text):
    file, _, name = text.rpartition(":")
    path = pathlib.Path(file).expanduser().absolute()
    if not name or not path.is_file():
        raise InvalidArgument(f"got {text}; expected FILE.py:NAME, a class or a function in a file that is there; there is no {path}",
                              "trainer")  # fmt: skip
    return Place(path, name)


def pack(place: Place, python: str | None) -> Packed:
    """Costs an import of the file in another process, unless this one has it. Raises InvalidArgument for code that cannot travel."""
    if place.trainer is not None:
        return _pack_here(place)
    program = python if python and os.path.isabs(python) and os.access(python, os.X_OK) else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        own = [str(pathlib.Path(__file__).parents[2])] if program == sys.executable else []  # another has packages of its own
        path = os.pathsep.join([*own, *filter(None, [os.environ.get("PYTHONPATH")])])
        packer = [program, "-m", "espalier.archive", str(place), "--output", folder]
        if not place.name:
            packer = [str(_script_worker()), str(place.file), "--python", program, "--pack", folder]
        ended = subprocess.run(packer, stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
        if ended.returncode:
            said = (ended.stderr.strip() or f"it ended with {ended.returncode}").splitlines()[-1]
            raise InvalidArgument(f"{place} cannot be packed by {program}: {said}; its packages are those of {program}", "trainer")
        about = (pathlib.Path(folder) / "about").read_text().split("\n")
        return Packed((pathlib.Path(folder) / "archive.zip").read_bytes(), about[0], about[1], about[2:-1])


def _script_worker():
    from espalier.client.local_service import find_program  # which imports what imports this

    return pathlib.Path(find_program()).resolve().with_name("espalier-script")


def _pack_here(place):
    from espalier import archive  # needs what trainers need
    from espalier.failure import TrainerError

    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "archive.zip"
        try:
            members = archive.members_of(place.trainer, _written(place, pathlib.Path(folder) / "code"))
            data = archive.data_beside(place.trainer, place.file.parent, members)
            archive.write(members, target)
        except TrainerError as error:
            raise InvalidArgument(str(error), "trainer") from error
        return Packed(target.read_bytes(), sys.executable, archive.data_seen(place.trainer, place.file.parent), data)


def _written(place, folder):
    """The place's file; one that there is not is written into the folder, beside links to all that lies where it would."""
    if place.source is None:
        return place.file
    folder.mkdir()
    for each in place.file.parent.iterdir():
        if each.name != place.file.name:
            (folder / each.name).symlink_to(each)
    (folder / place.file.name).write_text(place.source)
    return folder / place.file.name


def reference_of(place: Place, packed: Packed, python: str | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a TrainerReference."""
    reference: dict[str, Any] = {
        "entry": place.named(place.file.name),
        "archive_sha256": hashlib.sha256(packed.archive).hexdigest(),
        "folder": str(place.file.parent),
        "data": packed.data,
        "data_seen": packed.data_seen,
        "environment": [{"name": name, "value": str(environment[name])} for name in sorted(environment)],
    }
    if python:
        reference["python"] = python
    else:
        reference |= {"client_python": packed.python, "machine": _this_machine(), "uid": os.getuid() if hasattr(os, "getuid") else 0}
    return reference


def describe(connection: Connection, reference: dict[str, Any], archive: bytes, say: Callable[[str], None]) -> tuple[str, list[Any]]:
    """(the reference's digest, the TrainerDescriptions of the first server that offers it). Sends the archive, if the service has it
    not, and waits until a server offers the trainer or all that are connected have refused it; `say` is told for which. Raises
    FailedPrecondition with each server's reason."""
    digest = _introduce(connection, reference, archive)
    started = time.monotonic()
    pause, said = PAUSE_FIRST, ""
    while True:
        answer = connection.call("GetTrainer", reference_digest=digest)
        if not answer.wanted:
            _ask_for(connection, reference)
        if offers := next((list(server.offers) for server in answer.servers if server.offers), None):
            return digest, offers
        looking = ", ".join(server.server for server in answer.servers if not server.refused)
        if not answer.servers:
            looking = "a server"
            if time.monotonic() - started > SERVER_PATIENCE_SECONDS:
                raise FailedPrecondition(f"no server is connected that could run {reference['entry']}", "trainer")
        elif not looking and answer.wanted:
            reasons = "".join(f"\n  {server.server}: {server.refused}" for server in answer.servers)
            raise FailedPrecondition(f"no server runs {reference['entry']}:{reasons}", "trainer")
        if looking and looking != said:
            say(f"waiting for {looking} to look at {reference['entry']}")
            said = looking
        time.sleep(pause)
        pause = min(2 * pause, PAUSE_MAX)


def _introduce(connection, reference, archive):
    try:
        return _ask_for(connection, reference)
    except NotFound:
        connection.call("PutArchive", request_id=new_request_id(), archive=archive)
        return _ask_for(connection, reference)


def _ask_for(connection, reference):
    return connection.call("DescribeTrainer", request_id=new_request_id(), reference=reference).reference_digest


def _this_machine():
    for file in MACHINE_FILES:
        try:
            if machine := pathlib.Path(file).read_text().partition("\n")[0]:
                return machine
        except OSError:
            continue
    return ""
