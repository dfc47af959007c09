"""Whether policies may stop a study's trials, as it is said in Python."""

import json
import unittest

from espalier.client.specification import Specification
from espalier.errors import InvalidArgument


def specification(policy):
    return Specification("s", "synthetic", metric="loss", goal="min", policy=policy)


class PolicyTest(unittest.TestCase):
    def test_a_study_that_may_be_stopped_says_so_as_a_study_file_does(self):
        self.assertEqual(json.loads(specification({"may_stop": True}).definition())["policy"], {"may_stop": True})
        self.assertTrue(specification({"may_stop": True}).request("", {})["may_stop"])
        self.assertEqual(specification({"may_stop": False}).definition(), specification(None).definition())
        self.assertFalse(specification(None).request("", {})["may_stop"])

    def test_anything_else_is_refused_by_its_name(self):
        for wrong in (True, "bandit", {}, {"may_stop": 1}, {"may_stop": True, "target": 1}):
            with self.subTest(wrong=wrong), self.assertRaises(InvalidArgument) as refused:
                specification(wrong)
            self.assertEqual(refused.exception.field, "policy")


if __name__ == "__main__":
    unittest.main()
