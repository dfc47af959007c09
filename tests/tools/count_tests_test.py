"""Tests of tools/count_tests: what ./check says at its end is true."""

import pathlib
import tempfile
import unittest

from tools import count_tests


def junit(status, output, inner=""):
    return f'<testsuite><testcase name="test_x" status="{status}">{inner}<system-out>{output}</system-out></testcase></testsuite>'


class CountTests(unittest.TestCase):
    def count(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                (pathlib.Path(folder) / name.replace("_", ".")).write_text(text, encoding="utf-8")
            count = count_tests.count_folder(folder)
            return count.passed, count.failed

    def test_cases_of_catch2_are_counted(self):
        self.assertEqual(self.count(a_xml=junit("run", "All tests passed (61 assertions in 16 test cases)")), (16, 0))
        self.assertEqual(self.count(a_xml=junit("run", "All tests passed (1 assertion in 1 test case)")), (1, 0))

    def test_failed_cases_are_counted(self):
        self.assertEqual(self.count(a_xml=junit("fail", "x\ntest cases: 5 | 3 passed | 2 failed\n", "<failure/>")), (3, 2))

    def test_what_failed_is_shown_from_where_it_begins(self):
        before = "".join(f"line {number}\n" for number in range(1000))
        case = "a case\n-----\nx_test.cc:7\n.....\n\nx_test.cc:9: FAILED:\n  CHECK( 0 &gt;= 1 )\n"
        after = "more\n" * 1000 + "test cases: 5 | 4 passed | 1 failed\n"
        [shown] = count_tests.count_ctest(junit("fail", before + case + after, "<failure/>")).names
        self.assertIn("x_test.cc:9: FAILED:\n      CHECK( 0 >= 1 )\n", shown)
        self.assertIn("a case\n", shown)
        self.assertLess(shown.count("\n"), 50)
        [shown] = count_tests.count_ctest(junit("fail", before + "Segmentation fault\n", "<failure/>")).names
        self.assertTrue(shown.endswith("line 999\n    Segmentation fault"), shown)

    def test_a_program_that_crashed_failed(self):
        self.assertEqual(self.count(a_xml=junit("fail", "Segmentation fault", "<failure/>")), (0, 1))
        self.assertEqual(self.count(a_xml=junit("fail", "All tests passed (9 assertions in 3 test cases)", "<failure/>")), (3, 1))

    def test_a_program_that_was_not_built_failed(self):
        inner = '<skipped message="Unable to find executable"/>'
        self.assertEqual(self.count(a_xml=junit("notrun", "", inner)), (0, 1))

    def test_programs_of_python_tests_are_counted(self):
        output = "..F\nRan 3 tests in 2.0s\n\nFAILED (failures=1)\n"
        self.assertEqual(self.count(a_xml=junit("fail", output, "<failure/>")), (2, 1))

    def test_python_tests_are_counted(self):
        self.assertEqual(self.count(a_log="....\nRan 4 tests in 0.1s\n\nOK\n"), (4, 0))
        self.assertEqual(self.count(a_log="F.E.\nRan 4 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n"), (2, 2))
        self.assertEqual(self.count(a_log="Traceback: no module\n"), (0, 1))

    def test_checks_and_tests_add_up(self):
        ok = junit("run", "All tests passed (6 assertions in 2 test cases)")
        self.assertEqual(self.count(checks="passed format\nfailed rules of the repository\n", a_xml=ok, b_xml=ok), (5, 1))


if __name__ == "__main__":
    unittest.main()
