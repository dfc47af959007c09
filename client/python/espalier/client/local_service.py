"""A whole service on this machine, started from Python: `espalier up`, run by the program of that name."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import time
from os import PathLike
from typing import Any

from espalier.client import access
from espalier.client.client import Client, connect
from espalier.client.retry import RetryPolicy
from espalier.errors import FailedPrecondition, InvalidArgument, NotFound, Unavailable

PROGRAM = "espalier"
READY_PATIENCE_SECONDS = 120.0  # the first time it makes a database
PAUSE_SECONDS = 0.05
ASKED = RetryPolicy(first_connection_patience=0.5, call_patience=0.0)  # of a service that may not be there
SAID_LINES = 10  # of its log, in messages


def find_program() -> str:
    """The environment's ESPALIER_PROGRAM, else `espalier` on the PATH. Raises NotFound, which says what to install."""
    if given := os.environ.get("ESPALIER_PROGRAM"):
        if os.access(given, os.X_OK) and os.path.isfile(given):
            return given
        raise NotFound(f"ESPALIER_PROGRAM says {given}, which is no program", "ESPALIER_PROGRAM")
    if found := shutil.which(PROGRAM):
        return found
    raise NotFound("there is no program `espalier` on the PATH: build it (README.md: ./demo leaves it in build/release/bin), and put its "
                   "folder on the PATH, or set ESPALIER_PROGRAM; or es.connect() to a server elsewhere")  # fmt: skip


def up(*, slots: int | None = None, data: str | PathLike | None = None, trainers: list[str] | None = None, python: str | None = None,
       user_code: list[str] | None = None, checkpoint_bytes: int | None = None, database: str | None = None) -> Service:  # fmt: skip
    """Starts a service on this machine, and waits until it answers; the one that runs in the data directory already is used as it is.
    `with es.up() as service:` stops what it has started; otherwise it goes on after this process, until `service.stop()` or `espalier
    down`. `slots`: how many runs train at once; left out: one for each core. `data`: where it keeps everything; left out: ESPALIER_DATA
    or ~/.espalier. The rest as the options of `espalier up`. Raises NotFound where the program is not installed, FailedPrecondition
    with what it said where it does not start."""
    folder = access.data_directory(data).absolute()
    if (running := _running(folder)) is not None:
        return Service(folder, running, None)
    if slots is not None and (isinstance(slots, bool) or not isinstance(slots, int) or slots < 1):
        raise InvalidArgument(f"expected a whole number of at least 1, got {slots!r}", "slots")
    command = [find_program(), "up", "--data", str(folder)]
    for option, value in (("--slots", slots), ("--python", python), ("--checkpoint-bytes", checkpoint_bytes), ("--database", database)):
        command += [] if value is None else [option, str(value)]
    for option, values in (("--trainer", trainers), ("--user-code", user_code)):
        for value in values or ():
            command += [option, str(value)]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    log = folder / "up.log"
    with open(log, "ab") as file:
        begin = file.tell()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)
    try:
        return Service(folder, _wait(process, folder, log, begin), process)
    except BaseException:
        _end(process)
        raise


class Service:
    """A service on this machine. `data`: its directory; `client`: connected to it. `is_own`: it was started here."""

    def __init__(self, data: pathlib.Path, client: Client, process: subprocess.Popen[Any] | None):
        self.data = data
        self.client = client
        self._process = process

    @property
    def is_own(self) -> bool:
        return self._process is not None

    def stop(self) -> None:
        """Ends it, if it was started here; what is being trained goes on with the next one. Waits for its end."""
        self.client.close()
        if self._process is not None:
            _end(self._process)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()

    def __repr__(self):
        return f"<Service in {self.data}>"


def _running(folder, servers_wanted=0):
    """A client of the service there, if it answers and has so many servers that are ready to train; else None."""
    try:
        with connect(data=folder, policy=ASKED) as client:
            ready = sum(server.connected for server in client.servers())
        return connect(data=folder) if ready >= servers_wanted else None
    except Unavailable:
        return None


def _wait(process, folder, log, begin):
    deadline = time.monotonic() + READY_PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if (client := _running(folder, servers_wanted=1)) is not None:
            return client
        time.sleep(PAUSE_SECONDS)
    said = "\n".join(log.read_bytes()[begin:].decode(errors="replace").splitlines()[-SAID_LINES:])
    why = f"it ended with {process.returncode}" if process.poll() is not None else f"it is not ready after {READY_PATIENCE_SECONDS:.0f} s"
    raise FailedPrecondition(f"espalier up does not start: {why}; it said, in {log}:\n{said}")


def _end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.wait()
