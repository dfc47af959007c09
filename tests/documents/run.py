"""Runs what documents show: `PYTHON tests/documents/run.py [WORDS]`, of documents whose paths have one of the words. PYTHON is one that
tests/with_bridges.sh names; the service is built, in the environment's ESPALIER_BIN. Prints how many blocks were run, compared, and not run, and
why not; ends with 1 if one is wrong. What is said above a block is described in blocks.py."""

import collections
import contextlib
import functools
import os
import pathlib
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["OMP_NUM_THREADS"] = "1"  # for PyTorch in this process, beside the service's
sys.path[:0] = map(str, (ROOT / "tests" / "e2e", ROOT / "client" / "python"))

from blocks import blocks_of
from compare import missing_lines
from service import Service
from story import Story

DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
ALIVE = ("python", "sh", "yaml", "json")  # languages of blocks that are run unless they are marked
# Blocks of a language that another test runs, all of them, with more to say of what they come to.
RUN_BY = {
    ("README.md", "sh"): "tests/e2e/test_readme.py",
    ("README.md", "yaml"): "tests/e2e/test_readme.py",
    **dict.fromkeys([("docs/cpp_client.md", language) for language in ("cpp", "cmake", "sh")], "tests/e2e/test_cpp_client.py"),
    ("docs/python_client.md", "python"): "tests/python_client/server/documents_test.py",
    ("docs/exports.md", "python"): "tests/python_client/bridges/documents_test.py",
    ("docs/agents.md", "python"): "tests/python_client/bridges/documents_test.py",
    ("docs/hydra.md", "python"): "tests/python_client/bridges/hydra_test.py",
    ("docs/hydra.md", "sh"): "tests/python_client/bridges/hydra_test.py",
    ("docs/hydra.md", "yaml"): "tests/python_client/bridges/hydra_test.py",
}


def main(words):
    counts, wrong = collections.Counter(), []
    with contextlib.ExitStack() as at_end:
        shared = functools.cache(lambda: at_end.enter_context(Service()))
        for document in DOCUMENTS:
            if words and not any(word in document for word in words):
                continue
            begin = time.monotonic()
            try:
                seen = _read(blocks_of(document, (ROOT / document).read_text()), Story(shared), wrong)
            except ValueError as error:
                seen = collections.Counter()
                wrong.append(str(error))
            if seen:
                print(f"{document}: " + ", ".join(f"{count} {what}" for what, count in seen.items()) + f" ({time.monotonic() - begin:.1f} s)", flush=True)
            counts += seen
    print(f"all {sum(counts.values())} blocks:")
    for what, count in sorted(counts.items()):
        print(f"  {count} {what}")
    for each in wrong:
        print(f"WRONG {each}", flush=True)
    return 1 if wrong else 0


def _read(blocks, story, wrong):
    """What became of the blocks, counted; what is wrong is added to `wrong`."""
    seen = collections.Counter()
    with story:
        for block in blocks:
            try:
                seen[_live(story, block)] += 1
            except Exception as error:
                seen["wrong"] += 1
                shown = error if type(error).__name__ == "Wrong" else "".join(traceback.format_exception(error)[-3:])
                wrong.append(f"{block.place}: {shown}")
    return seen


def _live(story, block):
    test = block.said if block.mark == "run by" else "" if block.mark else RUN_BY.get((block.document, block.language), "")
    if test:
        if not (ROOT / test).exists():
            raise ValueError(f"there is no {test}")
        return f"run by {test}"
    if block.mark == "not run":
        if block.language == "python":
            compile(block.text, block.place, "exec")
        return f"not run: {block.said}"
    if block.mark == "from":
        if missing := missing_lines(block, (ROOT / block.said).read_text()):
            raise ValueError(f"{block.said} has not, in this order: {missing[0]!r}")
        return f"compared with {block.said}"
    if not block.language:
        return "pictures or outputs"
    if block.language not in ALIVE and block.mark != "file":
        raise ValueError(f"a block in {block.language} is run by nobody: expected a comment above it, from: FILE or not run: WHY")
    story.live(block)
    return "files" if block.mark == "file" and block.language not in ("yaml", "json") else "run"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
