"""What is declared and used by nobody: functions of C++ headers, and fields of protos. By names alone, over the whole repository, so
that what is found is surely unused; of several functions of one name, one that is used hides the others."""

import re
from collections import defaultdict

TOKEN = re.compile(r"[A-Za-z_]\w*|::|\S")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*$")
# Before a name these begin no declaration: what follows is called.
NO_TYPES = {"return", "co_return", "co_yield", "co_await", "throw", "else", "do", "case", "new", "delete", "and", "or", "not", "goto",
            "explicit", "operator", "requires", "typename", "if", "while", "for", "switch"}
# What the language calls by itself.
CALLED_BY_NAME = {"begin", "end", "main", "what"}
FIELD = re.compile(r"^\s*(?:optional\s+|repeated\s+)?(?:map<[^>]*>|[\w.]+)\s+(\w+)\s*=\s*\d+\s*(?:\[[^\]]*\])?;", re.MULTILINE)
JSON_NAME = re.compile(r'"([a-z]\w*)"')
RESERVED = re.compile(r"^\s*(reserved|option|package|syntax|import|return)\b")


def is_declared(tokens, at):
    """Whether the name at this place is being declared or defined as a function: a type stands before it, a list of parameters after."""
    if at + 1 >= len(tokens) or tokens[at + 1] != "(":
        return False
    before = at - 1
    while before >= 1 and tokens[before] == "::" and IDENTIFIER.match(tokens[before - 1]):
        before -= 2  # of which class, or namespace
    if before < 0:
        return False
    if tokens[before] in (">", "*", "&"):
        return tokens[before] == ">" and tokens[before - 1] != "-" or begins_with_type(tokens, before)
    return bool(IDENTIFIER.match(tokens[before])) and tokens[before] not in NO_TYPES


def begins_with_type(tokens, at):
    """Whether `Type*` or `Type&` stands here, and no expression: after what ends a statement, or after `const`."""
    while at >= 0 and (tokens[at] in ("*", "&", "::", ">", "<", ",") or IDENTIFIER.match(tokens[at])):
        at -= 1
        if at >= 0 and tokens[at] in ("return", "co_return"):
            return False
    return at < 0 or tokens[at] in (";", "{", "}", ":", "]")


def tokens_of(source):
    """Each with its line."""
    found = []
    for number, line in enumerate(source.code.split("\n"), 1):
        if line.lstrip().startswith("#include"):
            continue
        found.extend((token, number) for token in TOKEN.findall(line))
    return found


def check_functions(sources):
    """Functions that headers declare and nobody calls, names, or overrides."""
    declared = defaultdict(list)
    used = set(CALLED_BY_NAME)
    for source in sources:
        if not source.is_cpp:
            continue
        numbered = tokens_of(source)
        tokens = [token for token, _ in numbered]
        for at, (token, line) in enumerate(numbered):
            if not IDENTIFIER.match(token) or token in NO_TYPES:
                continue
            if not is_declared(tokens, at):
                used.add(token)
            elif source.suffix == ".h":
                declared[token].append((source, line))
            if token == "override" or token == "final":
                used.update(overridden(tokens, at))
    for name in sorted(set(declared) - used):
        for source, line in declared[name]:
            yield source.problem(line, f"{name} is declared, and nobody uses it: remove it")


def overridden(tokens, at):
    """The function whose declaration ends with `override` here: its base calls it."""
    while at >= 0 and tokens[at] not in (";", "{", "}"):
        at -= 1
        if tokens[at] == "(" and IDENTIFIER.match(tokens[at - 1]):
            yield tokens[at - 1]


def json_name(field):
    first, *rest = field.split("_")
    return first + "".join(word.capitalize() for word in rest)


def check_fields(sources):
    """Fields of protos that nobody writes or that nobody reads; configuration is written by people.

    The trainer protocol is JSON: its fields are written and read by their JSON names."""
    names = set()
    in_json = set()
    for source in sources:
        if source.path.startswith("worker/protocol/"):
            in_json.update(JSON_NAME.findall(source.text))
        if source.is_cpp:
            names.update(token for token, _ in tokens_of(source))
        elif source.suffix == ".py":
            names.update(TOKEN.findall(source.text))
    for source in sources:
        if source.suffix != ".proto":
            continue
        for match in FIELD.finditer(source.text):
            if RESERVED.match(match[0]):
                continue
            field = match[1]
            if json_name(field) in in_json:
                continue
            line = source.text.count("\n", 0, match.start(1)) + 1
            written = any(prefix + field in names for prefix in ("set_", "add_", "mutable_")) or "/config/" in source.path
            if not written:
                yield source.problem(line, f"nobody writes {field}: reserve its number")
            elif not any(name in names for name in (field, "has_" + field, field + "_size", "mutable_" + field)):
                yield source.problem(line, f"nobody reads {field}: reserve its number")
