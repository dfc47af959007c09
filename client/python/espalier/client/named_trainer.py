"""Trainers that a text names and no server has to be told of before: a library or a module, which travel, a line that starts a worker, and
a folder of data for a trainer that servers have. As client/trainer_code.h does for study files."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shlex
from collections.abc import Iterable
from typing import Any, NamedTuple

from espalier.errors import InvalidArgument

ARCHIVE_BYTES_MAX = 10 << 20
BUILT_IN_DATA = "digits"  # whatever lies here
ENDINGS = {"library": ".so", "torchscript": ".pt"}


class NamedTrainer(NamedTuple):
    """`kind`: library, torchscript, command or built-in. `file`: of the first two. `name`: of the trainer, in a library where it has
    several; of a command its line. `folder`: where a command is run. `data`: a folder, where there is one."""

    kind: str
    file: pathlib.Path | None
    name: str
    folder: pathlib.Path
    data: pathlib.Path | None

    @property
    def entry(self) -> str:
        return ":".join(filter(None, (self.kind, self.file.name if self.file is not None else "", self.name)))

    @property
    def archive(self) -> bytes:
        """What travels; empty: nothing does. Raises InvalidArgument where it is too large."""
        content = self.file.read_bytes() if self.file is not None else b""
        if len(content) > ARCHIVE_BYTES_MAX:
            raise InvalidArgument(f"{self.file} has more than 10 MiB, which travels to no server; give it to them by their worker's command "
                                  "line instead", "trainer")  # fmt: skip
        return content

    def reference(self, archive: bytes) -> dict[str, Any]:
        """The fields of a TrainerReference."""
        fields: dict[str, Any] = {"entry": self.entry, "folder": str(self.folder)}
        if archive:
            fields["archive_sha256"] = hashlib.sha256(archive).hexdigest()
        if self.data is not None:
            below = (path for path in self.data.rglob("*"))
            fields |= {"folder": str(self.data.parent), "data": [self.data.name], "data_seen": _look_of(below)}
        elif self.kind == "command":
            fields["data_seen"] = _look_of(self.folder / word for word in _words(self.name))
        return fields

    def chosen(self, offers: list[Any]) -> Any:
        """Of what a server offers, the one that is meant. Raises InvalidArgument."""
        named = self.name if self.kind == "library" else ""
        names = sorted({offer.name for offer in offers})
        if found := next((offer for offer in offers if offer.name == named), None):
            return found
        if not named and len(names) == 1:
            return offers[0]
        how = "; expected library:FILE.so:NAME with one of" if self.kind == "library" else ", of which one is expected"
        raise InvalidArgument(f"{self.entry} has {'no such trainer' if named else 'several trainers'}{how}: {', '.join(names)}", "trainer")


def named_trainer(trainer: Any, data: str) -> NamedTrainer | None:
    """None for what is named otherwise. Paths are seen from the current folder. Raises InvalidArgument."""
    if not isinstance(trainer, str):
        return None
    kind, _, rest = trainer.partition(":")
    here = pathlib.Path.cwd()
    folder = _data_folder(data)
    if kind == "command" and rest.strip():
        return NamedTrainer(kind, None, rest, here, None)
    if kind in ENDINGS:
        file, _, name = rest.partition(":") if kind == "library" else (rest, "", "")
        path = pathlib.Path(file).expanduser().absolute()
        if not file.endswith(ENDINGS[kind]) or not path.is_file():
            raise InvalidArgument(f"expected {kind}:FILE{ENDINGS[kind]}, a file that is there; there is no {path}", "trainer")
        return NamedTrainer(kind, path, name, here, folder)
    if folder is not None and ":" not in trainer:
        return NamedTrainer("built-in", None, trainer, here, folder)
    return None


def _data_folder(data):
    """None: it is a name."""
    if not data or data == BUILT_IN_DATA:
        return None
    path = pathlib.Path(os.path.abspath(os.path.expanduser(data)))
    return path if path.is_dir() or "/" in data else None


def _look_of(files: Iterable[pathlib.Path]) -> str:
    """What files look like from outside: names, sizes and times of change. Empty: there are none."""
    lines = []
    for file in sorted(filter(pathlib.Path.is_file, files), key=lambda path: os.fsencode(path)):
        status = file.stat()
        lines.append(b"%s %d %d\n" % (os.fsencode(file), status.st_size, status.st_mtime_ns))
    return hashlib.sha256(b"".join(lines)).hexdigest() if lines else ""


def _words(line):
    """None of a line that is more than words."""
    try:
        return shlex.split(line)
    except ValueError:
        return []
