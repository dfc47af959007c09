"""Runs clang-tidy, with the checks of .clang-tidy, on the C++ sources that differ from the main branch. Exit 1 if it finds something.

usage: python3 -m tools.clang_tidy BUILD-FOLDER (a folder that is built: with compile_commands.json and the generated headers)

Sources are looked at for ten minutes at the longest, those changed last first; the output names those that were not. Headers are looked at where a source that differs includes them and they differ, too.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
SECONDS_MAX = 600  # after that no further source is begun
MAIN_BRANCHES = ("origin/main", "main")


def changed_files(root):
    """What differs from the main branch where this one left it, committed or not; nothing if there is no main branch."""

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)

    for branch in MAIN_BRANCHES:
        base = git("merge-base", "HEAD", branch)
        if base.returncode == 0:
            return git("diff", "--name-only", "--diff-filter=d", base.stdout.strip()).stdout.splitlines()
    return []


def without_precompiled(command):
    """A command as clang understands it: GCC's precompiled headers and parameters are not its own, and neither are all its warnings."""
    command = re.sub(r"-include \S*/cmake_pch\.hxx|--param=\S+", "", command).replace("-Winvalid-pch", "")
    if "/torch/csrc/api/include" in command:
        command += " -include ATen/core/ivalue.h"  # clang wants it whole before what includes it in a circle
    return command + " -Wno-unknown-warning-option"


def one_by_one(database):
    """The entries with a command for each source, also for those that are compiled several at a time."""
    for entry in database:
        if "/Unity/unity_" not in entry["file"]:
            yield entry
            continue
        for source in re.findall(r'#include "(.*)"', pathlib.Path(entry["file"]).read_text(encoding="utf-8")):
            yield dict(entry, file=source, command=entry["command"].replace(entry["file"], source))


def commands_of(database, root, files):
    """The entries of a compile_commands.json for these files, for clang."""
    wanted = {str(root / file) for file in files}
    return [dict(entry, command=without_precompiled(entry["command"])) for entry in one_by_one(database) if entry["file"] in wanted]


def header_filter(root, files):
    headers = [re.escape(str(root / file)) for file in files if file.endswith(".h")]
    return f"^({'|'.join(headers)})$"


def findings(folder, source, headers):
    command = ["clang-tidy", "--quiet", "-p", folder, f"--header-filter={headers}", source]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return result.stdout if result.returncode == 0 else result.stdout or result.stderr


def look_at_all(sources, look, seconds):
    """What `look` says of each source that was begun in time, those changed last first, and the sources that were not."""
    ends = time.monotonic() + seconds
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        newest_first = sorted(sources, key=lambda source: (-os.stat(source).st_mtime, source))
        said = list(pool.map(lambda source: look(source) if time.monotonic() < ends else None, newest_first))
    found = {source: text for source, text in zip(newest_first, said) if text is not None}
    return found, [source for source in newest_first if source not in found]


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    files = changed_files(ROOT)
    database = json.loads((pathlib.Path(arguments[0]) / "compile_commands.json").read_text(encoding="utf-8"))
    commands = commands_of(database, ROOT, files)
    sources = sorted({entry["file"] for entry in commands})
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
        headers = header_filter(ROOT, files)
        found, left_out = look_at_all(sources, lambda source: findings(folder, source, headers), SECONDS_MAX)
    print("".join(found.values()), end="")
    print(f"clang-tidy: {len(found)} files, {sum(1 for text in found.values() if text)} with findings", file=sys.stderr)
    if left_out:
        print(f"clang-tidy: NOT looked at in {SECONDS_MAX} s:", *left_out, sep="\n  ", file=sys.stderr)
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
