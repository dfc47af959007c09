"""Compares the built-in trainers with plain PyTorch: `PYTHON tests/reference/run.py [WORDS ...]`, where only tests are run that have
one of the words in their names. Needs ESPALIER_BIN, the folder of the built programs."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main(words):
    root = HERE.parents[1]
    sys.path[:0] = [str(HERE), str(root / "tests" / "python"), str(root / "client" / "python")]
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{word}*" for word in words] or None
    suite = loader.discover(str(HERE), pattern="*_test.py")
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())


if __name__ == "__main__":
    main(sys.argv[1:])
