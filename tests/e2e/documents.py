"""Runs the Python that documents show, block after block, as it stands there."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_snippets(test, document):
    """Of `document`, a path from the root, each block as a subtest of `test`; the names that they leave. What they are called by errors is
    their line there."""
    text = (ROOT / document).read_text()
    names = {}
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start(1))
        with test.subTest(f"{document}:{line + 1}"):
            exec(compile("\n" * line + match[1], document, "exec"), names)
    return names
