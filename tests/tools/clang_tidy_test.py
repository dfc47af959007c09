"""Tests of tools/clang_tidy: it looks at what differs from the main branch, with commands that clang understands."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from tools import clang_tidy


class ChangedFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.git("init", "-q", "-b", "main")
        self.commit("kept.cc")
        self.commit("removed.cc")

    def git(self, *arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)

    def commit(self, file):
        (self.root / file).write_text("1")
        self.git("add", file)
        self.git("commit", "-q", "-m", file)

    def test_what_a_branch_added_or_changed_is_found_committed_or_not(self):
        self.git("checkout", "-q", "-b", "branch")
        self.commit("added.cc")
        (self.root / "kept.cc").write_text("2")
        self.git("rm", "-q", "removed.cc")
        self.assertEqual(clang_tidy.changed_files(self.root), ["added.cc", "kept.cc"])

    def test_what_the_main_branch_did_since_is_not_the_branchs(self):
        self.git("checkout", "-q", "-b", "branch")
        self.git("checkout", "-q", "main")
        self.commit("elsewhere.cc")
        self.git("checkout", "-q", "branch")
        self.assertEqual(clang_tidy.changed_files(self.root), [])

    def test_without_a_main_branch_nothing_differs(self):
        self.git("branch", "-q", "-m", "other")
        self.assertEqual(clang_tidy.changed_files(self.root), [])


class Commands(unittest.TestCase):
    def test_the_commands_of_the_files_come_without_what_gcc_alone_understands(self):
        database = [{"file": "/r/a.cc", "command": "c++ -O2 --param=n=1 -Winvalid-pch -include /b/x.dir/cmake_pch.hxx -c /r/a.cc"},
                    {"file": "/r/b.cc", "command": "c++ -c /r/b.cc"}]
        entries = clang_tidy.commands_of(database, pathlib.Path("/r"), ["a.cc", "a.h", "no.cc"])
        self.assertEqual([entry["file"] for entry in entries], ["/r/a.cc"])
        self.assertEqual(entries[0]["command"].split(), "c++ -O2 -c /r/a.cc -Wno-unknown-warning-option".split())

    def test_sources_that_are_compiled_together_are_looked_at_one_by_one(self):
        with tempfile.TemporaryDirectory() as folder:
            together = pathlib.Path(folder) / "Unity/unity_0_cxx.cxx"
            together.parent.mkdir()
            together.write_text('/* generated */\n\n#include "/r/a.cc"\n\n#include "/r/b.cc"\n', encoding="utf-8")
            entries = clang_tidy.commands_of([{"file": str(together), "command": f"c++ -c {together}"}], pathlib.Path("/r"), ["b.cc"])
        self.assertEqual([(entry["file"], entry["command"].split()[:3]) for entry in entries], [("/r/b.cc", ["c++", "-c", "/r/b.cc"])])

    def test_headers_that_differ_are_looked_at_and_no_others(self):
        self.assertRegex("/r/base/a.h", clang_tidy.header_filter(pathlib.Path("/r"), ["base/a.h", "b.cc"]))
        self.assertNotRegex("/r/base/b.h", clang_tidy.header_filter(pathlib.Path("/r"), ["base/a.h", "b.cc"]))


class Time(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sources = [str(pathlib.Path(folder.name) / name) for name in ("a.cc", "b.cc", "c.cc")]
        for age, source in enumerate(self.sources):
            pathlib.Path(source).write_text("1", encoding="utf-8")
            os.utime(source, (1000 - age, 1000 - age))

    def test_every_source_is_looked_at_however_many_there_are(self):
        found, left_out = clang_tidy.look_at_all(self.sources * 20, lambda source: "mistake" if "b.cc" in source else "", 60)
        self.assertEqual((found, left_out), ({self.sources[0]: "", self.sources[1]: "mistake", self.sources[2]: ""}, []))

    def test_what_there_is_no_time_for_is_named(self):
        found, left_out = clang_tidy.look_at_all(self.sources, lambda source: "", -1)
        self.assertEqual((found, left_out), ({}, self.sources))


if __name__ == "__main__":
    unittest.main()
