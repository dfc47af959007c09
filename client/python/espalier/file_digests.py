"""Digests of files by their content, remembered by size and time of change, so that a large data set is read once."""

import hashlib
import json
import os
import pathlib

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "espalier" / "file_digests.json"


def of_paths(folder, paths, is_remembered=True):
    """Path as given, and within a folder that is given -> SHA-256, hexadecimal. Raises OSError for what is not there. What will never be
    seen under these paths again is not worth remembering."""
    remembered = _read_cache() if is_remembered else {}
    known = dict(remembered)
    result = {}
    for given in paths:
        path = folder / given
        if path.is_dir():
            within = sorted(each for each in path.rglob("*") if each.is_file())
            result.update({f"{given}/{each.relative_to(path).as_posix()}": _digest(each, known) for each in within})
        else:
            result[str(given)] = _digest(path, known)
    if is_remembered and known != remembered:
        _write_cache(known)
    return result


def _digest(path, known):
    status = path.stat()
    key = f"{path.resolve()} {status.st_size} {status.st_mtime_ns} {status.st_ino}"
    if key not in known:
        with open(path, "rb") as file:
            known[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return known[key]


def _read_cache():
    try:
        return json.loads(CACHE.read_text())
    except (OSError, ValueError):
        return {}


def _write_cache(known):
    """A cache that cannot be written is no fault: the files are read again."""
    temporary = CACHE.with_name(f"{CACHE.name}.{os.getpid()}")
    try:
        CACHE.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(known))
        os.replace(temporary, CACHE)
    except OSError:
        pass
