"""What documents and rules refer to must be there: links between files, tests named in docs/laws.md, paths of include rules."""

import fnmatch
import posixpath
import re

LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
NAMED_TEST = re.compile(r'^- `([^`]+)`: "([^"]+)"$')
LAWS = "docs/laws.md"
JOINED = re.compile(r'"\s*\n\s*"')  # parts of one C++ string


def check_links(source, paths):
    """Links of a Markdown file to files of the repository; others' addresses are not looked at."""
    folder = posixpath.dirname(source.path)
    for number, line in enumerate(source.lines, 1):
        for target in LINK.findall(line):
            if "://" in target or target.startswith("mailto:"):
                continue
            path = posixpath.normpath(posixpath.join(folder, target))
            if not any(each == path or each.startswith(path + "/") for each in paths):
                yield source.problem(number, f"links to {target}, which is not there")


def check_laws(sources):
    """Tests that docs/laws.md names, by file and sentence."""
    by_path = {source.path: source for source in sources}
    laws = by_path.get(LAWS)
    for number, line in enumerate(laws.lines if laws else [], 1):
        match = NAMED_TEST.match(line)
        if not match:
            continue
        file, sentence = match.groups()
        if file not in by_path or sentence not in JOINED.sub("", by_path[file].text):
            yield laws.problem(number, f'names the test "{sentence}" of {file}, which is not there')


def check_rules(rules, paths):
    """Include rules for folders and files that are not there."""
    for rule in rules.rules:
        path = rule["path"]
        if not any(each == path or each.startswith(path + "/") or fnmatch.fnmatch(each, path) for each in paths):
            yield f"tools/tidy/rules.toml: a rule for {path}, which is not there"
