"""What a .proto file declares; that each declaration has a comment; and that the wire stays compatible.

Reads the part of the language that this repository uses: messages, enums, oneofs, services, fields, maps, `reserved`.
The record (proto_record.txt) holds one line for each field, enum value and rpc that was ever released:
    field espalier.v1.Study.name = 2 string
A line of the record must still be true, or its number must be `reserved`; a field may become `optional`, which the wire does
not see. New declarations need no line until
`python3 -m tools.tidy --record-protos` is run, at a release.
"""

import pathlib
import re
from typing import NamedTuple

RECORD = pathlib.Path(__file__).with_name("proto_record.txt")

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|[A-Za-z_][\w.]*|-?\d+|[{}()\[\]<>=;,]', re.DOTALL)
SCOPES = ("message", "enum", "oneof", "service")


class Declaration(NamedTuple):
    kind: str  # message, enum, service, oneof, field, value, rpc
    name: str  # full: package, scopes, own name
    line: int
    has_comment: bool
    number: int | None = None
    type: str = ""

    @property
    def record(self):
        number = "" if self.number is None else f" = {self.number}"
        return f"{self.kind} {self.name}{number} {self.type}".strip()


class ProtoFile:
    """The declarations of one file, in order, and its reserved numbers."""

    def __init__(self, text):
        self.declarations = []
        self.reserved = {}  # scope's full name -> set of numbers
        self._tokens = [(m[0], text.count("\n", 0, m.start()) + 1, m.start()) for m in TOKEN.finditer(text)]
        self._text = text
        self._package = ""
        self._read(scopes=[], kind=None)

    def _comment_lines(self):
        if not hasattr(self, "_comments"):
            self._comments = {line + t.count("\n") for t, line, _ in self._tokens if t.startswith(("//", "/*"))}
        return self._comments

    def _declare(self, kind, name, scopes, line, last_line, number=None, type_name=""):
        # A comment stands right above, or at the end of a line of the declaration.
        comments = self._comment_lines()
        has_comment = any(at in comments for at in range(line - 1, last_line + 1))
        if line - 1 in comments and not has_only_comment(self._text, line - 1):
            has_comment = any(at in comments for at in range(line, last_line + 1))
        full = ".".join(filter(None, [self._package, *scopes, name]))
        self.declarations.append(Declaration(kind, full, line, has_comment, number, type_name))

    def _read(self, scopes, kind):
        """Reads declarations up to the scope's closing brace."""
        statement = []
        while self._tokens:
            token, line, at = self._tokens.pop(0)
            if token.startswith(("//", "/*")):
                self._comment_lines().add(line + token.count("\n"))
                continue
            if token == "}":
                return
            if token == "{":
                head = [word for word, _ in statement]
                if head[0] in SCOPES:
                    self._declare(head[0], head[1], scopes, statement[0][1], line)
                    # A oneof's fields belong to the message.
                    self._read(scopes if head[0] == "oneof" else [*scopes, head[1]], head[0])
                else:
                    self._declare_statement(statement, scopes, kind, line)  # an rpc with options
                    self._read(scopes, "options")
                statement = []
            elif token == ";":
                self._declare_statement(statement, scopes, kind, line)
                statement = []
            else:
                statement.append((token, line))

    def _declare_statement(self, statement, scopes, kind, last_line):
        words = [word for word, _ in statement]
        if not words or words[0] in ("syntax", "import", "option") or kind == "options":
            return
        line = statement[0][1]
        if words[0] == "package":
            self._package = words[1]
        elif words[0] == "reserved":
            scope = ".".join(filter(None, [self._package, *scopes]))
            self.reserved.setdefault(scope, set()).update(reserved_numbers(words[1:]))
        elif kind == "service":
            self._declare("rpc", words[1], scopes, line, last_line, type_name=" ".join(words[2:]))
        elif "=" in words:
            equals = words.index("=")
            field_kind = "value" if kind == "enum" else "field"
            type_name = "".join(words[: equals - 1]) if "<" in words else " ".join(words[: equals - 1])
            self._declare(field_kind, words[equals - 1], scopes, line, last_line, int(words[equals + 1]), type_name)


def has_only_comment(text, line):
    return text.split("\n")[line - 1].lstrip().startswith(("//", "/*", "*"))


def reserved_numbers(words):
    numbers = set()
    for index, word in enumerate(words):
        if word == "to":
            numbers.update(range(int(words[index - 1]), int(words[index + 1]) + 1))
        elif re.fullmatch(r"\d+", word):
            numbers.add(int(word))
    return numbers


def described_by_rpc(declaration, rpcs):
    """XRequest and XResponse are said by the comment of rpc X."""
    name = declaration.name.rsplit(".", 1)[-1]
    return declaration.kind == "message" and name.removesuffix("Request").removesuffix("Response") in rpcs


# What needs no comment: fields whose name says kind and unit, fields of a message type (which has one of its own), and oneofs
# (whose members have theirs).
SELF_EVIDENT = re.compile(r"(^|_)(id|ids|name|count|steps|step|seconds|bytes)$")
MESSAGE_TYPE = re.compile(r"(repeated |optional )?([a-z]\w*\.)*[A-Z]\w*$")


def is_self_evident(declaration):
    if declaration.kind == "oneof":
        return True
    if declaration.kind != "field":
        return False
    return bool(SELF_EVIDENT.search(declaration.name.rsplit(".", 1)[-1]) or MESSAGE_TYPE.match(declaration.type))


def check_comments(source):
    file = ProtoFile(source.text)
    rpcs = {d.name.rsplit(".", 1)[-1] for d in file.declarations if d.kind == "rpc"}
    for declaration in file.declarations:
        if declaration.kind == "value" and declaration.number == 0 and declaration.name.endswith("_UNSPECIFIED"):
            continue
        if declaration.has_comment or is_self_evident(declaration) or described_by_rpc(declaration, rpcs):
            continue
        name = declaration.name.split(".", 2)[-1]
        yield source.problem(declaration.line, f"{declaration.kind} {name} has no comment")
    if not source.text.startswith("//"):
        yield source.problem(1, "a .proto file starts with a comment: what it is for")


def recorded_kinds(file):
    return [d for d in file.declarations if d.kind in ("field", "value", "rpc")]


def check_compatibility(sources, record_text):
    """Problems of all files together with the record."""
    now = {}
    reserved = {}
    for source in sources:
        file = ProtoFile(source.text)
        for scope, numbers in file.reserved.items():
            reserved.setdefault(scope, set()).update(numbers)
        for declaration in recorded_kinds(file):
            now[declaration.record] = (source, declaration)
    recorded = now.keys() | {line.replace(" optional ", " ") for line in now}
    by_number = {(d.name.rsplit(".", 1)[0], d.number): (s, d) for s, d in now.values() if d.number is not None}
    for number, line in enumerate(record_text.splitlines(), 1):
        if line in recorded or not line.strip():
            continue
        kind, name, wire_number = parse_record(line)
        scope = name.rsplit(".", 1)[0]
        if wire_number is not None and wire_number in reserved.get(scope, ()):
            continue
        if (scope, wire_number) in by_number:
            source, declaration = by_number[scope, wire_number]
            yield source.problem(declaration.line, f"was released as `{line}`: a number keeps its name and type")
        else:
            path = "tools/tidy/" + RECORD.name
            yield sources[0].problem(1, f"`{line}` ({path}:{number}) is gone: {'reserve its number' if wire_number else 'it was released'}")


def parse_record(line):
    match = re.match(r"(\w+) ([\w.]+)(?: = (-?\d+))?", line)
    return match[1], match[2], None if match[3] is None else int(match[3])


def record_of(sources):
    """The record's text, as the files are now."""
    lines = {d.record for source in sources for d in recorded_kinds(ProtoFile(source.text))}
    return "".join(line + "\n" for line in sorted(lines))
