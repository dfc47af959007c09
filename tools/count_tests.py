"""Adds up what ./check ran, prints what failed, and how, and "N passed, M failed"; fails if anything failed.

Reads a folder of results: *.xml as ctest writes them (--output-junit), *.log of Python's unittest, and the file `checks` with
one line `passed NAME` or `failed NAME` for each check that is no test. Test cases are counted, not test programs; a program
that ended without its summary (a crash) counts as one failed case more than it told of.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple


EXCERPT_LINES = 40  # of one program's output, about what failed
# Of Catch2 a failed case, of unittest a traceback, of a sanitizer its report: where each begins.
BEGINNING = re.compile(r"^.*: FAILED:$|^(?:FAIL|ERROR): |^WARNING: \w+Sanitizer|^==\d+==ERROR|runtime error: ")


class Count(NamedTuple):
    passed: int
    failed: int
    names: list[str]  # of what failed; below some of them a part of the output

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed, self.names + other.names)


NOTHING = Count(0, 0, [])


def excerpt(output):
    """Where failures begin, with some lines before and after; else the end."""
    lines = output.rstrip().splitlines()
    kept = set()
    for number, line in enumerate(lines):
        if BEGINNING.search(line):
            kept.update(range(max(number - 8, 0), min(number + 12, len(lines))))
    kept = sorted(kept) or range(len(lines))[-EXCERPT_LINES:]
    return [f"    {lines[number]}" for number in kept[:EXCERPT_LINES]]


def count_program(name, passed, output):
    """One test program: the summary of Catch2 or unittest tells its cases; another program is one case."""
    count = count_cases(name, passed, output)
    return count._replace(names=["\n".join([name, *excerpt(output)])]) if count.failed else count


def count_cases(name, passed, output):
    if match := re.search(r"All tests passed \(.* in (\d+) test cases?\)", output):
        return Count(int(match[1]), 0, []) if passed else Count(int(match[1]), 1, [name])
    if match := re.search(r"^test cases: +(\d+) \|(.*)$", output, re.MULTILINE):
        failed = re.search(r"(\d+) failed", match[2])
        failed = max(int(failed[1]) if failed else 0, 0 if passed else 1)
        return Count(int(match[1]) - failed, failed, [name])
    if re.search(r"^Ran \d+ tests? in", output, re.MULTILINE):
        return count_unittest(name, output)
    if "No tests ran" in output and passed:
        return NOTHING
    return Count(1, 0, []) if passed else Count(0, 1, [name])


def count_ctest(text):
    count = NOTHING
    for case in ElementTree.fromstring(text).iter("testcase"):
        skipped = case.find("skipped")
        if case.get("status") == "disabled" or (skipped is not None and "SKIP_" in skipped.get("message", "")):
            continue
        output = case.findtext("system-out") or ""
        count += count_program(case.get("name"), case.get("status") == "run", output)
    return count


def count_unittest(name, text):
    match = re.search(r"^Ran (\d+) tests?", text, re.MULTILINE)
    total = int(match[1]) if match else 0
    bad = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", text))
    if not match or (bad == 0 and not re.search(r"^OK", text, re.MULTILINE)):
        bad = max(bad, 1)
    return Count(max(total - bad, 0), bad, [name] if bad else [])


def count_checks(text):
    count = NOTHING
    for line in text.splitlines():
        verdict, name = line.split(" ", 1)
        count += Count(1, 0, []) if verdict == "passed" else Count(0, 1, [name])
    return count


def count_folder(folder):
    count = NOTHING
    for file in sorted(pathlib.Path(folder).iterdir()):
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix == ".xml":
            count += count_ctest(text)
        elif file.suffix == ".log":
            count += count_unittest(file.stem, text)
        elif file.name == "checks":
            count += count_checks(text)
    return count


def main():
    count = count_folder(sys.argv[1])
    for name in count.names:
        print(f"failed: {name}")
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
