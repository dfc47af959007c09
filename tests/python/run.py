"""Runs all tests of the Python package with the interpreter that it is started by: `PYTHON tests/python/run.py [WORDS ...]`, where
only tests are run that have one of the words in their names. PyTorch must be there; `safetensors` is tested against where it is.
`run.py --adapters [WORDS ...]` runs those that need the frameworks in adapters/requirements.txt."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main(words):
    folder = HERE
    paths = [HERE, HERE.parents[1] / "client" / "python"]
    if words[:1] == ["--adapters"]:
        folder, words = HERE / "adapters", words[1:]
        paths += [folder, folder / "trainers", HERE / "trainers"]
    sys.path[:0] = map(str, paths)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{word}*" for word in words] or None
    suite = loader.discover(str(folder), pattern="*_test.py")
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())


if __name__ == "__main__":
    main(sys.argv[1:])
