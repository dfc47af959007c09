"""The reference of the C++ client: its public headers, which are contracts. Of each what it says of itself, then what it declares with the
comments that stand there; without what is private."""

import re

HEADERS = [
    "client/client.h", "client/study_specification.h", "client/study.h", "client/views.h", "client/evaluation.h", "client/future.h", "client/branch.h",
    "client/tune.h", "client/retry_policy.h", "client/space/search_space.h", "client/space/condition.h", "client/space/sampling.h",
    "client/space/trial_text.h", "client/tuners/tuner.h", "client/tuners/batch.h", "base/result.h", "base/ids.h", "base/units.h", "base/stop_rule.h",
    "base/study_choices.h", "base/study_event.h",
]  # fmt: skip
PRIVATE = re.compile(r"^ private:\n.*?(?=^\};|^ public:\n)", re.MULTILINE | re.DOTALL)
AROUND = re.compile(r"^(#.*|namespace espalier \{|\}  // namespace espalier|.*fmt: skip)\n", re.MULTILINE)


class Unavailable(Exception):
    """Never: headers are sources."""


def page(root):
    parts = ["# The C++ client", "The library's headers, as programs include them (`#include \"client/client.h\"`); everything is in the namespace `espalier`."]
    for header in HEADERS:
        parts += [f"## {header}", *_contract((root / header).read_text())]
    return "\n\n".join(parts)


def _contract(text):
    """What a header says of itself, as prose and what it shows as code; then its declarations."""
    said = re.match(r"(?://.*\n)+", text)[0]
    rest = AROUND.sub("", PRIVATE.sub("", text[len(said):]))
    lines = [line.removeprefix("//").removeprefix(" ") for line in said.splitlines()]
    prose = "\n".join(f"    {line[2:]}" if line.startswith("  ") else line for line in lines)
    prose = re.sub(r"^(?! {4})(.*)\n(?= {4})", r"\1\n\n", prose, flags=re.MULTILINE)
    prose = re.sub(r"^( {4}.*)\n(?! {4})", r"\1\n\n", prose, flags=re.MULTILINE)
    return [prose.strip("\n"), "```cpp\n" + re.sub(r"\n{3,}", "\n\n", rest).strip() + "\n```"]
