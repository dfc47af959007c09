"""Tests of tests/documents: what is taken for a block, and what comments above it say."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "documents"))

from blocks import blocks_of
from compare import missing_lines


class BlocksTest(unittest.TestCase):
    def test_blocks_have_their_place_their_language_and_what_is_said_of_them(self):
        plain, marked = blocks_of("a.md", "# A\n\n```sh\nls\n```\n\n<!-- before: touch b -->\n<!-- before: ls b -->\n<!-- not run: why -->\n```python\nx\n```\n")
        self.assertEqual((plain.place, plain.language, plain.text, plain.mark, plain.before), ("a.md:3", "sh", "ls\n", "", []))
        self.assertEqual((marked.place, marked.mark, marked.said, marked.before), ("a.md:10", "not run", "why", ["touch b", "ls b"]))

    def test_a_comment_that_nobody_understands_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "a.md:2: expected comments such as"):
            blocks_of("a.md", "<!-- dont run: it -->\n```sh\nls\n```\n")
        with self.assertRaisesRegex(ValueError, "expected one mark"):
            blocks_of("a.md", "<!-- not run: it -->\n<!-- from: b -->\n```sh\nls\n```\n")

    def test_a_block_that_is_not_seen_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "4 fences, and 1 blocks"):
            blocks_of("a.md", "- item\n\n  ```sh\n  ls\n  ```\n\n```sh\nls\n```\n")

    def test_comments_elsewhere_are_the_readers(self):
        (block,) = blocks_of("a.md", "<!-- TO DO -->\n\n```sh\nls\n```\n")
        self.assertEqual(block.mark, "")

    def test_a_quotation_stands_in_its_file_in_order(self):
        (block,) = blocks_of("a.md", "```python\na\n    ...\n\nb\n```\n")
        self.assertEqual(missing_lines(block, "a\nx\nb\n"), [])
        self.assertEqual(missing_lines(block, "b\na\n"), ["b"])

    def test_of_a_diff_what_is_added_stands_in_the_file(self):
        (block,) = blocks_of("a.md", "```diff\n+a\n-gone\n+b\n```\n")
        self.assertEqual(missing_lines(block, "a\nb\n"), [])
        self.assertEqual(missing_lines(block, "a\ngone\n"), ["b"])


if __name__ == "__main__":
    unittest.main()
