"""Runs the tests of the Python client with the interpreter that it is started by: `PYTHON tests/python_client/run.py [FOLDER] [WORDS ...]`.
Without a folder those that need the standard library alone; `wire` needs grpcio, `server` a built service besides, in the environment's
ESPALIER_BIN, `bridges` the tools that the client has bridges to. Only tests are run that have one of the words in their names."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDERS = ("wire", "server", "bridges")


def main(words):
    folder = HERE / "pure"
    if words and words[0] in FOLDERS:
        folder, words = HERE / words[0], words[1:]
    sys.path[:0] = map(str, (folder, ROOT / "client" / "python", ROOT / "tests" / "e2e", HERE / "wire"))  # whose master tests of others play with, too
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{word}*" for word in words] or None
    suite = loader.discover(str(folder), pattern="*_test.py")
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())


if __name__ == "__main__":
    main(sys.argv[1:])
