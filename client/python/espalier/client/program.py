"""The program `espalier` on this machine, for what it alone can do: reading study files, computing sequences, reaching the checkpoint store."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from espalier.client.local_service import find_program
from espalier.errors import FailedPrecondition, InvalidArgument, Unavailable

if TYPE_CHECKING:
    from espalier.client.client import Client

ERRORS = {2: InvalidArgument, 3: Unavailable}  # by the program's exit code: a wrong file or option, no server; all else it refused


def answer(*arguments: object, client: Client | None = None) -> Any:
    """The JSON document that `espalier ARGUMENTS... --output json` prints. `client`: whose server it shall ask, as whom; left out: the
    command asks none. Raises NotFound where the program is not installed, and what the program said where it refused."""
    place: Iterable[str] = ()
    token: Mapping[str, str] = {}
    if client is not None:
        place = ("--server", client.connection.address, "--data", str(client.data))
        token = {"ESPALIER_TOKEN": client.connection.token} if client.connection.token else {}
    command = [find_program(), *map(str, arguments), *place, "--output", "json"]
    done = subprocess.run(command, env=os.environ | token, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix("espalier: ") or f"espalier {' '.join(command[1:3])} ended with {done.returncode}"
        raise ERRORS.get(done.returncode, FailedPrecondition)(said)
    return json.loads(done.stdout)
