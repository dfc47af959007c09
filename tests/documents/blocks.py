"""The fenced blocks of a document, each with what is said of it in a comment above it, which no reader of the rendered page sees:

    <!-- not run: WHY -->        it is no more than read
    <!-- run by: TEST -->        that test runs it
    <!-- from: FILE -->          its lines stand in that file, in this order, `...` for what is left out; of a diff those that are added
    <!-- file: NAME -->          it is a file of the reader's, of that name
    <!-- before: COMMAND -->     which the reader has done by then; several of these may stand above each other, and above any other
"""

import re
from typing import NamedTuple

BLOCK = re.compile(r"^(?P<comments>(?:<!-- [^\n]* -->\n)*)```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!-- (not run|run by|from|file|before): (.*) -->")


class Block(NamedTuple):
    document: str
    line: int  # of the fence
    language: str  # empty: a picture, or what a program says
    text: str
    before: list[str]  # commands
    mark: str  # "not run", "run by", "from", "file"; or empty
    said: str  # what stands behind the mark

    @property
    def place(self):
        return f"{self.document}:{self.line}"


def blocks_of(document, text):
    """Raises ValueError for a comment that means nothing here, and for a fence that is not the pattern's, such as one within a list."""
    found = [_block(document, text, match) for match in BLOCK.finditer(text)]
    fences = len(re.findall(r"^\s*```", text, re.MULTILINE))
    if fences != 2 * len(found):
        raise ValueError(f"{document}: {fences} fences, and {len(found)} blocks")
    return found


def _block(document, text, match):
    line = text.count("\n", 0, match.start("language")) + 1
    comments = match["comments"].splitlines()
    said = [known.groups() for comment in comments if (known := COMMENT.fullmatch(comment))]
    if len(said) < len(comments):
        raise ValueError(f"{document}:{line}: expected comments such as {COMMENT.pattern}, got {comments}")
    marks = [each for each in said if each[0] != "before"]
    if len(marks) > 1:
        raise ValueError(f"{document}:{line}: expected one mark, got {marks}")
    return Block(document, line, match["language"], match["text"], [command for kind, command in said if kind == "before"], *(marks or [("", "")])[0])
