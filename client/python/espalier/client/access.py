"""How a server is found, and who calls: as the command line does (client/cli/server_access.h)."""

import os
import pathlib
import re
import sys

from espalier.errors import FailedPrecondition, Unauthenticated, Unavailable

TOKEN = re.compile(r"espalier_[0-9a-f]{64}")
BLANK = " \t\r\n"
UNIX = "unix:"
# Programs that import users' files to make trainers of them.
IMPORTERS = ("espalier.worker", "espalier.archive")


def data_directory(data=None) -> pathlib.Path:
    """`data`, else the environment's ESPALIER_DATA, else ~/.espalier."""
    return pathlib.Path(data or os.environ.get("ESPALIER_DATA") or pathlib.Path.home() / ".espalier").expanduser()


def server_address(data=None) -> str:
    """The environment's ESPALIER_SERVER, unless a directory is given; else what `espalier up` wrote into its data directory. Raises
    Unavailable."""
    if not data and (named := os.environ.get("ESPALIER_SERVER")):
        return named
    file = data_directory(data) / "address"
    try:
        address = file.read_text().partition("\n")[0]
    except OSError:
        address = ""
    if not address:
        raise Unavailable(f"no server has written its address to {file}; start one with: espalier up, or es.up(), "
                          "or give its address: es.connect('host:port')")  # fmt: skip
    return address


def token_for(address: str, token: str | None = None) -> str:
    """`token`, else the environment's ESPALIER_TOKEN, else what lies beside a Unix socket; empty if nothing does. Raises
    Unauthenticated for what is no token."""
    if given := token or os.environ.get("ESPALIER_TOKEN"):
        return parsed_token(given)
    if not address.startswith(UNIX):
        return ""
    try:
        return parsed_token(pathlib.Path(address.removeprefix(UNIX)).with_name("token").read_text())
    except (OSError, Unauthenticated):
        return ""


def parsed_token(text: str) -> str:
    """Without white space around it. Raises Unauthenticated, which does not repeat it."""
    stripped = text.strip(BLANK)
    if not TOKEN.fullmatch(stripped):
        raise Unauthenticated("what was given is no token: expected espalier_ and 64 hexadecimal digits, as espalier user add prints them", "token")
    return stripped


def refuse_in_trainers() -> None:
    """Raises FailedPrecondition in a process that imports a user's file to make a trainer of it: it would drive its own study."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None and spec.name in IMPORTERS:
        raise FailedPrecondition("this file connects to a server while it is imported as a trainer: put what drives studies under "
                                 'if __name__ == "__main__", or into a file of its own')  # fmt: skip
