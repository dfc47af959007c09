"""Reads the one notation that files, command line and servers have:

    expression = number | "text" | true | false | Name "(" [argument {"," argument}] ")"
    argument   = [name "="] (expression | "[" [expression {"," expression}] "]")
"""

from __future__ import annotations

import dataclasses
import difflib
import keyword
import re

from espalier.errors import InvalidArgument
from espalier.sequences import families as _families  # noqa: F401, its classes enter FAMILIES
from espalier.sequences.ranges import RANGES, Range
from espalier.sequences.sequence import FAMILIES, Sequence
from espalier.sequences.values import Value, plain, printed

DEPTH_MAX = 64
BYTES_MAX = 1 << 20
FOUND_MAX = 20  # characters, in messages

NUMBER = re.compile(r"-?(?:\d+(\.\d*)?|(\.\d+))([eE][+-]?\d+)?")
WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
BLANK = re.compile(r"[ \t\n\r]*")
LOOKS_LIKE_CALL = re.compile(r"[A-Za-z_0-9]+ *\(")
ESCAPED = {'"': b'"', "\\": b"\\", "n": b"\n", "t": b"\t"}


def parse(text: str) -> Sequence | Range | Value:
    """The sequence, range or plain value that a text in the notation says. Raises InvalidArgument, with the column and what was
    expected there, or with the family and the argument."""
    if not isinstance(text, str):
        raise InvalidArgument(f"expected a text in the notation, got {type(text).__name__}")
    if len(text.encode(errors="replace")) > BYTES_MAX:
        raise InvalidArgument(f"expected at most {BYTES_MAX} bytes")
    return _Parser(text).whole()


def looks_like_call(text: str) -> bool:
    """Whether a text is meant in the notation: a name and a bracket. Else it is a text."""
    return LOOKS_LIKE_CALL.match(text) is not None


class _Parser:
    def __init__(self, text):
        self.text = text
        self.place = 0
        self.depth = 0

    def whole(self):
        expression = self.expression()
        self.skip(BLANK)
        if self.place < len(self.text):
            raise self.expected("the end")
        return expression

    def expression(self):
        self.skip(BLANK)
        next_one = self.text[self.place : self.place + 1]
        if next_one and next_one in "-.0123456789":
            return self.number()
        if next_one == '"':
            return self.quoted()
        start = self.place
        word = self.skip(WORD)
        if word is None:
            raise self.expected('a number, "text", true, false or a function such as Cosine(...)')
        if self.take("("):
            return self.call(word)
        if word in ("true", "false"):
            return word == "true"
        self.place = start
        raise self.expected("a finite number, text in double quotes, true, false or a function with its arguments")

    def call(self, name):
        positional, named = [], {}
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise InvalidArgument(f"column {self.place + 1}: expected at most {DEPTH_MAX} nested functions")
        if not self.take(")"):
            while True:
                argument_name, value = self.argument()
                if argument_name is None:
                    positional.append(value)
                elif argument_name in named:
                    raise InvalidArgument(f"{name}: {argument_name} is given twice")
                else:
                    named[argument_name] = value
                if not self.take(","):
                    break
            if not self.take(")"):
                raise self.expected("',' or ')'")
        self.depth -= 1
        return made(name, positional, named)

    def argument(self):
        """(name or None, value)."""
        self.skip(BLANK)
        start = self.place
        name = self.skip(WORD)
        if name is not None and not self.take("="):
            name, self.place = None, start
        return name, self.listed() if self.take("[") else self.expression()

    def listed(self):
        values = []
        if self.take("]"):
            return values
        while True:
            values.append(self.expression())
            if not self.take(","):
                break
        if not self.take("]"):
            raise self.expected("',' or ']'")
        return values

    def number(self):
        start = self.place
        match = NUMBER.match(self.text, self.place)
        if match is None:
            raise self.expected("a number")
        self.place = match.end()
        try:
            return plain(float(match[0]) if match[1] or match[2] or match[3] else int(match[0]))
        except InvalidArgument:
            self.place = start
            whole = not (match[1] or match[2] or match[3])
            raise self.expected("a whole number of at most 64 bits" if whole else "a number that floating point can hold") from None

    def quoted(self):
        start = self.place
        value = bytearray()
        self.place += 1
        while self.place < len(self.text):
            character = self.text[self.place]
            self.place += 1
            if character == '"':
                try:
                    return plain(value.decode())
                except (UnicodeDecodeError, InvalidArgument):
                    self.place = start
                    raise self.expected("a text in UTF-8 without zero bytes") from None
            value += self.escaped() if character == "\\" else character.encode(errors="surrogatepass")
        raise self.expected("the text's closing quote")

    def escaped(self):
        character = self.text[self.place : self.place + 1]
        if character in ESCAPED:
            self.place += 1
            return ESCAPED[character]
        digits = self.text[self.place + 1 : self.place + 3]
        if character != "x" or not re.fullmatch("[0-9a-fA-F]{2}", digits):
            raise self.expected('\\", \\\\, \\n, \\t or \\x with two hexadecimal digits')
        self.place += 3
        return bytes([int(digits, 16)])

    def skip(self, pattern):
        match = pattern.match(self.text, self.place)
        if match is None:
            return None
        self.place = match.end()
        return match[0]

    def take(self, character):
        self.skip(BLANK)
        if not self.text.startswith(character, self.place):
            return False
        self.place += 1
        return True

    def expected(self, what):
        found = "the end"
        if self.place < len(self.text):
            found = printed(re.compile(r".\w*", re.DOTALL).match(self.text, self.place)[0][:FOUND_MAX].replace("\0", "?"))
        column = len(self.text[: self.place].encode(errors="replace")) + 1
        return InvalidArgument(f"column {column}: expected {what}, found {found}")


def made(name, positional, named):
    """A family or a range with its arguments. Raises InvalidArgument."""
    if name in RANGES:
        if named:
            raise InvalidArgument(f"{name}: expected arguments by position")
        try:
            return RANGES[name](*positional)
        except TypeError:
            raise InvalidArgument(f"{name}: expected low and high, got {len(positional)} arguments") from None
    if name not in FAMILIES:
        nearest = difflib.get_close_matches(name, [*FAMILIES, *RANGES], n=1, cutoff=0.0)[0]
        raise InvalidArgument(f"{name}: no such function, did you mean {nearest}?")
    family = FAMILIES[name]
    fields = {field.name: field for field in dataclasses.fields(family)}
    if len(positional) > len(fields):
        raise InvalidArgument(f"{name}: expected at most {len(fields)} arguments, got {len(positional)}")
    given = dict(zip(fields, positional))
    for each, value in named.items():
        field = f"{each}_" if keyword.iskeyword(each) else each
        if field not in fields:
            raise InvalidArgument(f"{name}: has no argument {each}; expected one of: {', '.join(fields)}")
        if field in given:
            raise InvalidArgument(f"{name}: {each} is given twice")
        given[field] = value
    for field in fields.values():
        if field.name not in given and field.default is dataclasses.MISSING:
            raise InvalidArgument(f"{name}: {field.name} is missing")
    return family(**given)
