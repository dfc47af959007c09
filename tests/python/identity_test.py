"""Digests of code and data: what shares training, and what does not."""

import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import espalier as es
from espalier import file_digests, identity, packages
from espalier.failure import TrainerError
from espalier.worker import trainer_in

TRAINER = '''
"""A docstring."""
import espalier as es
import helper

class Mine(es.Trainer):
    {settings}
    def train(self):
        """Another."""
        from package.part import useful
        return {{"loss": helper.half({number}), "samples": useful}}  # a comment
'''


class IdentityTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        (self.folder / "package").mkdir()
        for patch in [mock.patch.object(file_digests, "CACHE", self.folder / "cache"), mock.patch.object(sys, "path", [*sys.path])]:
            patch.start()
            self.addCleanup(patch.stop)
        for file, text in {"helper.py": "half = lambda x: x / 2", "package/__init__.py": "", "package/part.py": "useful = 1",
                           "stranger.py": "useful = 2", "data.csv": "1,2"}.items():  # fmt: skip
            self.write(file, text)

    def write(self, file, text):
        (self.folder / file).write_text(text)

    def digests(self, settings="", number=1, change=lambda text: text):
        self.write("trainer.py", change(TRAINER.format(settings=settings, number=number)))
        for name in ("trainer", "helper"):
            sys.modules.pop(name, None)
        return identity.describe(trainer_in(f"{self.folder}/trainer.py:Mine"))

    def code(self, *arguments, **named):
        return self.digests(*arguments, **named)[0]

    def test_comments_docstrings_and_layout_change_nothing(self):
        before = self.code()
        for change in [lambda text: text.replace("# a comment", "# another"), lambda text: text.replace("Another.", "Yet another."),
                       lambda text: text.replace("\n\n", "\n\n\n"), lambda text: text.replace('"""A docstring."""', "")]:  # fmt: skip
            self.assertEqual(self.code(change=change), before)

    def test_code_that_changes_is_another_identity_and_evaluation(self):
        self.assertNotEqual(self.code(number=2), self.code())
        self.assertNotEqual(self.digests(number=2)[2], self.digests()[2])

    def test_what_is_imported_from_the_own_folder_counts_wherever_it_is_imported(self):
        for file in ["helper.py", "package/part.py", "package/__init__.py"]:
            before = self.code()
            self.write(file, "half = lambda x: x / 3; useful = 3")
            self.assertNotEqual(self.code(), before, file)

    def test_other_files_count_if_they_are_named(self):
        for settings, same in [("", True), ('files = ["stranger.py"]', False)]:
            before = self.code(settings)
            self.write("stranger.py", f"useful = {settings!r}")
            self.assertEqual(self.code(settings) == before, same)

    def test_a_version_replaces_the_sources(self):
        self.assertEqual(self.code('version = "1"'), self.code('version = "1"', number=2))
        self.assertNotEqual(self.code('version = "1"'), self.code('version = "2"'))

    def test_versions_of_imported_distributions_count_unless_they_are_ignored(self):
        ignoring = 'ignore_packages = ["torch"]'
        before, before_ignoring = self.code(), self.code(ignoring)
        version = packages.importlib.metadata.version
        with mock.patch.object(packages.importlib.metadata, "version", lambda name: "0" if name == "torch" else version(name)):
            self.assertNotEqual(self.code(), before)
            self.assertEqual(self.code(ignoring), before_ignoring)

    def test_data_is_named_by_the_content_of_its_files(self):
        settings = 'data = es.files("data.csv", "package")'
        before = self.digests(settings)[1]
        os.utime(self.folder / "data.csv", (1, 1))
        self.assertEqual(self.digests(settings)[1], before)
        self.write("data.csv", "1,3")
        changed = self.digests(settings)[1]
        self.assertNotEqual(changed, before)
        self.write("package/more", "")
        self.assertNotEqual(self.digests(settings)[1], changed)

    def test_files_are_read_once_while_size_and_time_stay(self):
        settings = 'data = es.files("data.csv")'
        before = self.digests(settings)
        with mock.patch.object(file_digests.hashlib, "file_digest", side_effect=AssertionError("read again")):
            self.assertEqual(self.digests(settings), before)

    def test_data_may_be_a_version_and_is_unknown_if_nothing_is_said(self):
        self.assertNotEqual(self.digests('data = "1"')[1], self.digests('data = "2"')[1])
        self.assertEqual(self.digests()[1], "unknown")

    def test_what_cannot_be_read_is_refused_by_name(self):
        for settings, message in [('data = es.files("none.csv")', "none.csv"), ("data = 5", "data = 5: write es.files"),
                                  ('files = ["none.py"]', "none.py")]:  # fmt: skip
            with self.assertRaisesRegex(TrainerError, message):
                self.digests(settings)

    def test_too_much_source_asks_for_a_version(self):
        with mock.patch("espalier.sources.SOURCE_BYTES_MAX", 100), self.assertRaisesRegex(TrainerError, "give the trainer a version"):
            self.digests()


class HyperParameterTest(unittest.TestCase):
    def test_declarations_that_no_study_could_write_are_refused(self):
        for declare in [lambda: es.sequence(list, default=[]), lambda: es.initial(int, default=1.5), lambda: es.initial(int, default=True)]:
            self.assertRaises(TypeError, declare)
        for declare in [lambda: es.initial(int, default=2**63), lambda: es.sequence(float, default=float("nan")),
                        lambda: es.sequence(str, default="\0")]:  # fmt: skip
            self.assertRaises(ValueError, declare)

    def test_a_whole_number_is_a_float_where_one_is_declared_and_zero_has_no_sign(self):
        self.assertEqual(repr(es.sequence(float, default=1).default), "1.0")
        self.assertEqual(repr(es.sequence(float, default=-0.0).default), "0.0")


class OnceTest(unittest.TestCase):
    def test_what_is_loaded_once_is_the_same_for_every_seed_and_draws_nothing(self):
        import torch

        drawn = []
        for seed in [1, 2]:
            torch.manual_seed(seed)
            drawn.append(es.once(lambda: torch.rand(()).item())())
            self.assertEqual(torch.rand(()), torch.rand((), generator=torch.Generator().manual_seed(seed)))
        self.assertEqual(*drawn)

    def test_what_is_loaded_once_stays_the_same_object(self):
        load = es.once(lambda: object())
        self.assertIs(load(), load())
