"""Words that have no place somewhere, with what to use instead."""

import re

TODO = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))|\b(FIXME|XXX|HACK)\b")


def check(source, rules):
    if source.is_cpp:
        yield from check_banned(source, rules)
    if source.suffix in (".h", ".cc", ".proto", ".py", ".sql", ".cmake", ".sh", ".go") and not source.is_in("tools/tidy"):
        for number, line in enumerate(source.lines, 1):
            if TODO.search(line) and not source.is_in("tests/tools"):
                yield source.problem(number, "write TODO(#issue), or do it")
    if source.suffix == ".h" and not source.text.startswith("//"):
        yield source.problem(1, "a header starts with a comment: what the concept is, its invariant, its thread rule")
    if source.is_in("sql/queries") and source.suffix == ".sql":
        yield from check_statement(source)


def check_banned(source, rules):
    rule = rules.rule_for(source.path)
    for banned in rules.banned:
        folders = banned.get("folders")
        applies = any(source.is_in(folder) for folder in folders) if folders else rule is not None and rule.get("pure")
        if not applies:
            continue
        for number, line in enumerate(source.code.split("\n"), 1):
            if match := re.search(banned["word"], line):
                yield source.problem(number, f"`{match[0]}` in a pure folder; instead: {banned['instead']}")


def check_statement(source):
    text = re.sub(r"--[^\n]*", "", source.text)
    text = re.sub(r"'(?:[^']|'')*'", "''", text)
    statements = [part for part in text.split(";") if part.strip()]
    if len(statements) != 1:
        yield source.problem(1, f"{len(statements)} statements; a query's file holds one")
