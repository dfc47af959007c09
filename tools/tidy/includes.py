"""Who may include whom, by the table in rules.toml."""

import fnmatch
import pathlib
import re
import tomllib

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


class Rules:
    def __init__(self, text):
        table = tomllib.loads(text)
        self.libraries = table["library"]
        self.rules = table["rule"]
        self.banned = table.get("banned", [])
        self.apart = table.get("apart", [])

    @staticmethod
    def of_repository():
        return Rules(pathlib.Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))

    def rule_for(self, path):
        """The rule with the longest path that holds for the file; None if there is none."""
        fitting = [rule for rule in self.rules if covers(rule["path"], path)]
        return max(fitting, key=lambda rule: len(rule["path"]), default=None)

    def library_of(self, name):
        """The library that an included name belongs to; the most special pattern wins. None: the system's, or the project's."""
        found = [
            (len(pattern), library)
            for library, patterns in self.libraries.items()
            for pattern in patterns
            if fnmatch.fnmatch(name, pattern) or (pattern.endswith("/") and name.startswith(pattern))
        ]
        return max(found)[1] if found else None


def covers(folder_or_file, path):
    return path == folder_or_file or path.startswith(folder_or_file + "/") or fnmatch.fnmatch(path, folder_or_file)


def included(source):
    for number, line in enumerate(source.lines, 1):
        if match := INCLUDE.match(line):
            yield number, match[1] or match[2], match[1] is not None


def check(source, rules):
    if not source.is_cpp:
        return
    rule = rules.rule_for(source.path)
    if rule is None:
        yield source.problem(1, "tools/tidy/rules.toml has no rule for this folder")
        return
    libraries = {}
    for number, name, quoted in included(source):
        library = rules.library_of(name)
        if library is not None:
            libraries.setdefault(library, number)
            if library != "standard_extension" and library not in rule.get("libraries", []):
                yield source.problem(number, f"{name}: {rule['path']} may not use {library}")
        elif quoted:
            yield from check_project_include(source, rule, number, name)
    for apart in rules.apart:
        if all(library in libraries for library in apart["libraries"]):
            line = max(libraries[library] for library in apart["libraries"])
            yield source.problem(line, f"{' and '.join(apart['libraries'])} may not meet in one file")


def check_project_include(source, rule, number, name):
    if "/" not in name:
        yield source.problem(number, f'"{name}": includes are written from the repository\'s root')
    elif name.endswith("main.cc"):
        yield source.problem(number, "nobody includes a main")
    elif any(covers(path, name) for path in rule.get("never", [])):
        yield source.problem(number, f"{name}: not from {rule['path']}")
    elif not any(covers(path, name) for path in [rule["path"], *rule.get("include", [])]):
        allowed = ", ".join(rule.get("include", [])) or "nothing but itself"
        yield source.problem(number, f"{name}: {rule['path']} may include {allowed}")
