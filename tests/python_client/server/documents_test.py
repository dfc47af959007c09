"""What documents show of the Python client runs, block after block, as it stands there."""

import os
import pathlib
import re
import unittest
import unittest.mock

import espalier as es
from documents import ROOT, run_snippets
from service import Service

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])


class DocumentsTest(unittest.TestCase):
    def test_every_snippet_of_the_document_runs(self):
        with Service() as service, unittest.mock.patch.dict(os.environ, ESPALIER_DATA=str(service.data),
                                                                        ESPALIER_PROGRAM=str(BIN / "espalier")):
            names = run_snippets(self, "docs/python_client.md")
            self.assertTrue({"client", "study", "best", "driven", "told"} <= set(names))  # of blocks from the first to the last
            names["client"].close()

    def test_every_exception_that_there_is_stands_in_the_table(self):
        text = (ROOT / "docs/python_client.md").read_text()
        exceptions = {name for name, place in es._PLACES.items() if place == "errors"} - {"Error"}
        self.assertEqual(set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]*)\|", text, re.MULTILINE)))), exceptions)


if __name__ == "__main__":
    unittest.main()
