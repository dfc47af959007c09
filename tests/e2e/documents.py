"""Runs the Python that documents show, block after block, as it stands there."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "documents"))

from blocks import blocks_of


def run_snippets(test, document):
    """Of `document`, a path from the root, each block as a subtest of `test`; the names that they leave. What they are called by errors is
    their line there."""
    names = {}
    for block in blocks_of(document, (ROOT / document).read_text()):
        if block.language == "python":
            with test.subTest(block.place):
                exec(compile("\n" * block.line + block.text, document, "exec"), names)
    return names
