"""Tests of tools/site: where links lead, and what the references say of the sources they are made from."""

import ast
import pathlib
import tempfile
import unittest
import unittest.mock

from tools.site import command_line, cpp_headers, links, navigation, python_package, source_pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATHS = {"README.md", "docs/a.md", "docs/plots/p.svg", "examples/go/worker.go", "deploy/systemd/one.service", "deploy/systemd/two.service"}

MANUAL = r""".TH ESPALIER 1
.SH COMMANDS
.SS espalier study run
\fBespalier study run\fR \fIFILE\fR [\fIOPTION\fR ...]
.PP
Run a study file, as \(gaespalier up\(ga does
.TP
\fIFILE\fR
the study file (YAML)
.TP
\fB\-\-data\fR \fIDIR\fR
\&.espalier, else \(ti/.espalier
"""

HEADER = """// What a study is.
//   espalier::Study study;
// Any thread may call.
#pragma once

#include <string>

namespace espalier {

// A handle.
class Study {
 public:
  // Its name.
  std::string name() const;

 private:
  int hidden_;
};

}  // namespace espalier
"""

MODULE = '''
class _Draws:
    """So many."""
    seed: int | None = None

@dataclass(frozen=True, kw_only=True)
class TPE(_Draws):
    """Tries."""

    reload = False  # saves time
    steps: int

    @property
    def longest(self) -> int:
        """How many."""

    def options(self, given, *, by: str = "name", **others) -> dict:
        """As given."""

    def _hidden(self):
        """No."""
'''


class LinksTest(unittest.TestCase):
    def test_a_link_to_a_file_or_a_folder_leads_to_the_page_that_shows_it(self):
        text = "[a](../examples/go/worker.go) [b](../deploy/systemd) [c](../deploy/systemd/#x)"
        self.assertEqual(links.sources_of("docs/a.md", text, PATHS), ["examples/go/worker.go", "deploy/systemd", "deploy/systemd"])
        self.assertEqual(links.to_pages("docs/a.md", text, PATHS),
                         "[a](../examples/go/worker.go.md) [b](../deploy/systemd.md) [c](../deploy/systemd.md#x)")  # fmt: skip

    def test_links_to_pages_pictures_and_other_places_stay_and_one_to_the_readme_leads_to_the_first_page(self):
        text = "[a](b.md#c) ![d](plots/p.svg) [e](https://e.org/x.go) [f](#f) [g](../README.md) [h](../gone.go)"
        self.assertEqual(links.sources_of("docs/a.md", text, PATHS), [])
        self.assertEqual(links.to_pages("docs/a.md", text, PATHS), text.replace("../README.md", "../index.md"))

    def test_patterns_in_the_navigation_stand_for_the_pages_that_there_are(self):
        trees = navigation.trees({"Part": ["a.md", "docs/*.md"]}, {"docs/c.md": "", "docs/b.md": "", "a.md": ""})
        self.assertIn(":caption: Part\n\na.md\ndocs/b.md\ndocs/c.md\n", trees)

    def test_a_source_that_holds_fences_is_shown_whole(self):
        self.assertEqual(source_pages.fenced("```\nx\n```\n", ".py"), "````python\n```\nx\n```\n````")


class ReferencesTest(unittest.TestCase):
    def test_the_manual_is_read_as_it_was_written(self):
        (command,) = command_line._commands(MANUAL)
        self.assertEqual((command.name, command.synopsis), ("espalier study run", "espalier study run FILE [OPTION ...]"))
        self.assertEqual(command.help, ["Run a study file, as `espalier up` does"])
        self.assertEqual(command.arguments, {"FILE": "the study file (YAML)", "--data DIR": ".espalier, else ~/.espalier"})

    def test_without_the_program_it_is_said_how_to_get_it(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict("os.environ", ESPALIER_BIN=folder):
            with self.assertRaisesRegex(command_line.Unavailable, "build it, or name its folder by ESPALIER_BIN"):
                command_line.page(ROOT)

    def test_of_a_header_there_is_the_contract_and_nothing_private(self):
        said, declared = cpp_headers._contract(HEADER)
        self.assertEqual(said, "What a study is.\n\n    espalier::Study study;\n\nAny thread may call.")
        self.assertEqual(declared, "```cpp\n// A handle.\nclass Study {\n public:\n  // Its name.\n  std::string name() const;\n\n};\n```")

    def test_of_a_class_there_are_its_fields_and_its_public_functions_as_they_are_called(self):
        module = python_package._Module.__new__(python_package._Module)
        module.tree, module.lines, module.functions = ast.parse(MODULE), MODULE.splitlines(), []
        module.classes = {each.name: each for each in module.tree.body}
        text = "\n".join(module.told("TPE", "es.TPE", "TPE"))
        self.assertIn("es.TPE(*, steps: int, seed: int | None = None)\n```\nTries.\nSo many.\n- `reload = False`: saves time\n", text)
        self.assertIn("tpe.longest -> int", text)
        self.assertIn("tpe.options(given, *, by: str = 'name', **others) -> dict", text)
        self.assertNotIn("hidden", text)

    def test_every_name_of_the_package_stands_in_its_reference(self):
        page = python_package.page(ROOT)
        for name in python_package._places(ROOT / python_package.PACKAGE):
            if name != "ResumableLoader":  # which is DataLoader
                self.assertIn(f"\n### {name}\n", page)

    def test_headers_of_the_reference_are_there(self):
        self.assertEqual([each for each in cpp_headers.HEADERS if not (ROOT / each).exists()], [])


if __name__ == "__main__":
    unittest.main()
