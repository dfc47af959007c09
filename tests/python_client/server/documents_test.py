"""What documents show of the Python client runs, block after block, as it stands there."""

import os
import pathlib
import re
import unittest
import unittest.mock

import espalier as es
from service import Service

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
ROOT = pathlib.Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


class DocumentsTest(unittest.TestCase):
    def test_every_snippet_of_the_document_runs(self):
        document = ROOT / "docs/python_client.md"
        text = document.read_text()
        with Service() as service, unittest.mock.patch.dict(os.environ, ESPALIER_DATA=str(service.data),
                                                                        ESPALIER_PROGRAM=str(BIN / "espalier")):
            names = {}
            for match in BLOCK.finditer(text):
                line = text.count("\n", 0, match.start(1))
                with self.subTest(f"{document.name}:{line + 1}"):
                    exec(compile("\n" * line + match[1], str(document), "exec"), names)
            self.assertGreaterEqual(len(BLOCK.findall(text)), 10)
            names["client"].close()

    def test_every_exception_that_there_is_stands_in_the_table(self):
        text = (ROOT / "docs/python_client.md").read_text()
        exceptions = {name for name, place in es._PLACES.items() if place == "errors"} - {"Error"}
        self.assertEqual(set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]*)\|", text, re.MULTILINE)))), exceptions)


if __name__ == "__main__":
    unittest.main()
