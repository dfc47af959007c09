"""What the rules look at: the repository's files, and the problems found in them."""

import pathlib
import re
import subprocess
from functools import cached_property
from typing import NamedTuple


class Problem(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class SourceFile:
    """One file: its path from the repository's root, with `/`, and its text."""

    def __init__(self, path, text):
        self.path = path
        self.text = text

    @property
    def suffix(self):
        return pathlib.PurePosixPath(self.path).suffix

    @property
    def is_cpp(self):
        return self.suffix in (".h", ".cc")

    @property
    def is_test(self):
        return self.path.startswith("tests/")

    @cached_property
    def lines(self):
        return self.text.splitlines()

    @cached_property
    def code(self):
        """C++ text without comments and without what is in quotes; line numbers stay the same."""
        return strip_cpp(self.text)

    def is_in(self, folder):
        return self.path == folder or self.path.startswith(folder + "/")

    def problem(self, line, message):
        return Problem(self.path, line, message)


NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)


def strip_cpp(text):
    def blank(match):
        found = match[0]
        kept = '""' if '"' in found[:2] and not found.startswith("//") else ""
        return kept + "\n" * found.count("\n")

    # Names of included files are in quotes, and are code.
    return NOT_CODE.sub(lambda match: match[0] if is_include_name(text, match) else blank(match), text)


def is_include_name(text, match):
    start = text.rfind("\n", 0, match.start()) + 1
    return match[0].startswith('"') and text[start : match.start()].strip() == "#include"


def tracked_files(root):
    """Every text file that git knows of, or would know of."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    ).stdout.decode()
    for path in sorted(filter(None, listed.split("\0"))):
        try:
            yield SourceFile(path, (pathlib.Path(root) / path).read_text(encoding="utf-8"))
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue  # data, or deleted in the working tree
