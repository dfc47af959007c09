"""What documents show of the bridges runs."""

import asyncio
import contextlib
import os
import pathlib
import re
import tempfile
import unittest
import unittest.mock

import espalier as es
from documents import ROOT, run_snippets
from espalier.mcp.server import made
from espalier.mcp.tools import Tools
from service import Service

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])


class DocumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        service = cls.enterClassContext(Service())
        paths = {"ESPALIER_DATA": str(service.data), "ESPALIER_PROGRAM": str(BIN / "espalier"), "PYTHONPATH": str(pathlib.Path(es.__file__).parents[1])}
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, paths))

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(contextlib.chdir(self.folder))

    def test_every_snippet_of_exports_runs_and_leaves_what_is_said(self):
        names = run_snippets(self, "docs/exports.md")
        names["client"].close()
        self.assertEqual({each.name for each in self.folder.iterdir()},
                         {"trials.csv", "trials.jsonl", "trials.parquet", "runs", "mlflow.db", "wandb-runs"})  # fmt: skip
        self.assertEqual(len(list(self.folder.glob("wandb-runs/wandb/offline-run-*"))), 6)

    def test_every_snippet_of_agents_runs(self):
        self.assertEqual(run_snippets(self, "docs/agents.md")["best"]["metric"], "test_acc")

    def test_every_tool_stands_in_the_table(self):
        told = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/agents.md").read_text(), re.MULTILINE)
        tools = asyncio.run(made(Tools(None, None)).list_tools())
        self.assertEqual(sorted(told), sorted(each.name for each in tools))


if __name__ == "__main__":
    unittest.main()
