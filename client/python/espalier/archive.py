"""The archive in which a user's own code travels to servers: the trainer's file, what it imports from its own folder, and its `files`.
The same code makes the same bytes, everywhere. `python -m espalier.archive FILE.py:NAME --output FOLDER` writes FOLDER/archive.zip, and
FOLDER/about: this interpreter's path, the digest of the trainer's data as it is seen here, and, one a line, the paths of data that are
to be found beside the code."""

import gc

if __name__ == "__main__":
    gc.disable()  # as in worker.py; this ends soon

import argparse
import os
import pathlib
import sys
import zipfile

from espalier import identity, sources
from espalier.failure import TrainerError

BYTES_MAX = 10 << 20  # of an archive, and of what is in it
FILES_MAX = 10_000
FIRST_MOMENT = (1980, 1, 1, 0, 0, 0)  # that a zip file knows: when a file was changed does not count


def main():
    from espalier.worker import trainer_in  # which unpacks archives itself

    parser = argparse.ArgumentParser(prog="python -m espalier.archive")
    parser.add_argument("trainer", metavar="FILE.py:NAME")
    parser.add_argument("--output", required=True, type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    try:
        file = pathlib.Path(arguments.trainer.rpartition(":")[0]).resolve()
        trainer_class = trainer_in(arguments.trainer)
        members = members_of(trainer_class, file)
        data = data_beside(trainer_class, file.parent, members)
        write(members, arguments.output / "archive.zip")
    except TrainerError as error:
        sys.exit(str(error))
    (arguments.output / "about").write_text("\n".join([sys.executable, data_seen(trainer_class, file.parent), *data]) + "\n")


def members_of(trainer_class, file):
    """Path within the folder of `file` -> path of the file. Raises TrainerError, which names what cannot travel."""
    folder = file.parent
    try:
        paths = [folder / name for name in sources.sources_of(file)]
        for given in trainer_class.files:
            path = folder / given
            paths += [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
        byte_count = sum(path.stat().st_size for path in paths)
    except (OSError, SyntaxError, sources.TooMuchSource) as error:
        raise TrainerError(f"the code of {trainer_class.__name__} cannot be read: {error}") from error
    if byte_count > BYTES_MAX or len(paths) > FILES_MAX:
        raise TrainerError(f"files: the code of {trainer_class.__name__} has {byte_count} bytes in {len(paths)} files, and may have"
                           f" {BYTES_MAX} in {FILES_MAX}: name data in data = es.files(...)")  # fmt: skip
    return {_below(folder, path, "files"): path for path in paths}


def data_beside(trainer_class, folder, members):
    """The paths of data that are seen from the trainer's folder, sorted: on a server they are linked beside the code."""
    if not isinstance(trainer_class.data, identity.Files):
        return []
    data = {_below(folder, folder / given, "data") for given in trainer_class.data.paths if not os.path.isabs(given)}
    for name in data:
        if code := next((each for each in members if each == name or each.startswith(f"{name}/")), None):
            raise TrainerError(f"data: {name} holds code ({code}): give the data a folder of its own")
    return sorted(data)


def data_seen(trainer_class, folder):
    """The digest of the data's files; empty if a server may have them and this machine has not."""
    try:
        return identity.data_digest(trainer_class.data, folder) if isinstance(trainer_class.data, identity.Files) else ""
    except TrainerError:
        return ""


def _below(folder, path, field):
    name = os.path.relpath(os.path.abspath(path), folder)
    if name == "." or name.split(os.sep)[0] == ".." or "\n" in name:
        raise TrainerError(f"{field}: {path} is not below the trainer's folder {folder}: move it there, or give data an absolute path")
    return pathlib.Path(name).as_posix()


def write(members, archive):
    """Uncompressed, since compressors differ; sorted, and without what differs between machines."""
    with zipfile.ZipFile(archive, "w") as opened:
        for name in sorted(members):
            opened.writestr(zipfile.ZipInfo(name, FIRST_MOMENT), members[name].read_bytes())


def unpack(archive, folder, data, to):
    """Into the folder `to`: what is in the archive, and links to each path of `data` below `folder`. Raises TrainerError for an archive that
    would reach out of it, or is too large."""
    try:
        with zipfile.ZipFile(archive) as opened:
            check(opened.infolist())
            for member in opened.infolist():
                path = to / member.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(opened.read(member))
        for name in data:
            link = to / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(pathlib.Path(folder) / name)
    except (OSError, zipfile.BadZipFile, TrainerError) as error:
        raise TrainerError(f"the archive cannot be unpacked: {error}") from error


def check(members):
    """Raises TrainerError for what an archive of ours never holds."""
    for member in members:
        parts = member.filename.split("/")
        if not member.filename or "\\" in member.filename or any(part in ("", ".", "..") for part in parts):
            raise TrainerError(f"the archive holds {member.filename!r}: expected files below its own folder")
    if len(members) > FILES_MAX or sum(member.file_size for member in members) > BYTES_MAX:
        raise TrainerError(f"the archive holds more than {BYTES_MAX} bytes, or {FILES_MAX} files")


if __name__ == "__main__":
    main()
