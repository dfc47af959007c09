"""What decides a training's bits besides hyper-parameters: code and data, as digests. Equal digests share training; a digest that
changes without need costs training, and one that does not change costs truth."""

import hashlib
import inspect
import json
import pathlib
from typing import NamedTuple

from espalier import file_digests, sources
from espalier.failure import TrainerError
from espalier.packages import Packages

UNKNOWN_DATA = "unknown"  # the digest of data that a trainer says nothing of: sharing stops at the study


class Files(NamedTuple):
    paths: tuple


def files(*paths):
    """Data that is named by the content of these files, or of all files in these folders. Paths are seen from the trainer's file."""
    return Files(paths)


def describe(trainer_class, environment=None, packages=None):
    """(code digest, data digest, evaluation digest), hexadecimal. `environment`: name -> value of the variables that were set for this
    trainer. `packages`: of `packages_of`, if there are any yet. Raises TrainerError, which names what cannot be read."""
    folder = pathlib.Path(inspect.getfile(trainer_class)).resolve().parent
    code = code_digest(trainer_class, folder, environment, packages or packages_of(trainer_class))
    data = data_digest(trainer_class.data, folder)
    return code, data, digest_of({"code": code, "data": data})


def code_digest(trainer_class, folder, environment, packages):
    path = pathlib.Path(inspect.getfile(trainer_class)).resolve()
    try:
        code = {"version": trainer_class.version} if trainer_class.version is not None else {"sources": sources.sources_of(path)}
        code["files"] = file_digests.of_paths(folder, trainer_class.files, is_remembered=False)  # a worker's own copy
    except (OSError, SyntaxError, sources.TooMuchSource) as error:
        raise TrainerError(f"the code of {trainer_class.__qualname__} has no digest: {error}") from error
    if environment:
        code["environment"] = environment
    return digest_of({**code, "packages": packages.versions()})


def data_digest(data, folder):
    if data is None:
        return UNKNOWN_DATA
    if isinstance(data, str):
        return digest_of({"version": data})
    if not isinstance(data, Files):
        raise TrainerError(f"data = {data!r}: write es.files(...), or a text that names the data's version")
    try:
        return digest_of({"files": file_digests.of_paths(folder, data.paths)})
    except OSError as error:
        raise TrainerError(f"the data has no digest: {error}") from error


def packages_of(trainer_class):
    """The Packages that count, as of now. Sources that are too much to be read, and have a version, are not looked at."""
    try:
        imported, own = sources.modules_of(pathlib.Path(inspect.getfile(trainer_class)).resolve())
    except (OSError, SyntaxError, sources.TooMuchSource):
        imported, own = set(), set()
    return Packages(imported, own, trainer_class.ignore_packages)


def digest_of(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
