"""What is written in a notebook's cells becomes a module that means the same without the notebook."""

import linecache
import subprocess
import sys
import textwrap
import unittest

from espalier import InvalidArgument
from espalier.client.notebook_code import source_of


class Notebook:
    """Cells as IPython runs them: each is compiled under a name of its own, by which its lines are found."""

    def __init__(self, *cells):
        self.names = {"__name__": "__main__", "In": [""]}
        for cell in cells:
            self.run(cell)

    def run(self, cell):
        text = textwrap.dedent(cell)
        self.names["In"].append(text)
        name = f"<cell {len(self.names['In'])} of {id(self)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), self.names)

    def module(self, name):
        return source_of(name, self.names)

    def said(self, name, expression):
        """What another process says that `expression` is, in the module of that name's."""
        done = subprocess.run([sys.executable, "-c", self.module(name) + f"\nprint({expression})"], capture_output=True, text=True, check=True)
        return done.stdout.strip()


class NotebookCodeTest(unittest.TestCase):
    def test_functions_classes_imports_and_plain_values_come_along_however_far_away(self):
        notebook = Notebook(
            "import os.path as paths, math\nfrom collections import OrderedDict as Ordered\nimport pathlib",
            "RATE, FOLDER, NAMES = 0.5, pathlib.Path('data') / 'all', {'a': (1, None)}",
            """
            def halved(value):
                return value * RATE

            class Base:
                factor = math.floor(2.5)
                def total(self):
                    return halved(self.value) * self.factor
            """,
            """
            def kept(cls):
                cls.kept = Ordered(NAMES)
                return cls

            @kept
            class Trainer(Base):
                def __init__(self, value):
                    self.value = value
                    self.inner = [halved(each) for each in range(3)]
                    self.path = paths.join(FOLDER, "x")
            """,
        )
        self.assertEqual(notebook.said("Trainer", "Trainer(6).total(), Trainer(0).inner, Trainer(0).path, Trainer.kept['a']"),
                         "6.0 [0.0, 0.5, 1.0] data/all/x (1, None)")  # fmt: skip
        self.assertNotIn("In", notebook.module("Trainer").split())

    def test_what_is_not_named_stays_behind_and_local_names_are_no_globals(self):
        notebook = Notebook(
            "model = object()\nunused = object()\ndef forgotten(): return unused",
            "class Trainer:\n    def train(self):\n        model = 1\n        return [model for unused in range(2)]",
        )
        self.assertEqual(notebook.said("Trainer", "Trainer().train()"), "[1, 1]")
        self.assertNotIn("forgotten", notebook.module("Trainer"))

    def test_a_cell_that_is_run_again_counts_as_it_was_run_last_and_only_what_was_run_counts(self):
        notebook = Notebook("STEP = 1", "def main(): return STEP + helper()", "def helper(): return 10", "def helper(): return 20\nSTEP = 2")
        notebook.names["In"].append("def helper(: return 30")  # has a mistake
        notebook.names["In"].append("raise 1\ndef helper(): return 40")
        self.assertEqual(notebook.said("main", "main()"), "22")

    def test_functions_that_name_each_other_are_both_there_once(self):
        notebook = Notebook("def odd(n): return n > 0 and even(n - 1)", "def even(n): return n == 0 or odd(n - 1)")
        self.assertEqual(notebook.said("odd", "odd(7), even(7)"), "True False")
        self.assertEqual(notebook.module("odd").count("def "), 2)

    def test_a_live_object_is_refused_with_what_names_it(self):
        notebook = Notebook(
            "data = iter([1])\nnever = float('nan')", "def load(): return data", "class Trainer:\n    def init(self): return load()", "def other(): return never"
        )
        with self.assertRaisesRegex(InvalidArgument, "trainer: load names data, which was made in the notebook.*make it in init"):
            notebook.module("Trainer")
        with self.assertRaisesRegex(InvalidArgument, "other names never"):
            notebook.module("other")

    def test_a_class_without_methods_is_found_in_the_last_cell_that_has_it(self):
        notebook = Notebook("class Settings:\n    size = 2", "class Settings:\n    size = 3", "def main(): return Settings.size")
        self.assertEqual(notebook.said("main", "main()"), "3")

    def test_of_two_definitions_in_one_cell_the_last_counts(self):
        notebook = Notebook("def main(): return 1\ndef main(): return 2")
        self.assertEqual(notebook.said("main", "main()"), "2")


if __name__ == "__main__":
    unittest.main(verbosity=2)
