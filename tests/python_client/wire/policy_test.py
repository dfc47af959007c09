"""What a study tells policies, as it is said in Python."""

import json
import unittest

from espalier.client.specification import Specification
from espalier.errors import InvalidArgument


def specification(policy=None, **more):
    return Specification("s", "synthetic", metric="loss", goal="min", policy=policy, **more)


def defined(specified):
    return json.loads(specified.definition())


class PolicyTest(unittest.TestCase):
    def test_a_study_that_may_be_stopped_says_so_as_a_study_file_does(self):
        self.assertEqual(defined(specification({"may_stop": True}))["policy"], {"may_stop": True})
        self.assertTrue(specification({"may_stop": True}).request("", {})["policy"]["may_stop"])
        self.assertEqual(specification({"may_stop": False}).definition(), specification(None).definition())
        self.assertFalse(specification(None).request("", {})["policy"]["may_stop"])

    def test_what_a_policy_for_deadlines_goes_by_is_said_as_a_study_file_does(self):
        said = specification({"min": 5, "speeds": {2: 1.9, 16: 8}}, deadline="2h", priority=2)
        self.assertEqual(defined(said)["policy"], {"min": 5, "speeds": {"16": 8.0, "2": 1.9}})
        self.assertEqual((defined(said)["deadline"], defined(said)["priority"]), ("2h", 2.0))
        request = said.request("", {})
        self.assertEqual(request["policy"], {"may_stop": False, "min_steps": 5, "speeds": {2: 1.9, 16: 8.0}, "deadline_seconds": 7200})
        self.assertEqual(request["priority"], 2)
        self.assertEqual(specification(priority=1).definition(), specification().definition())

    def test_anything_else_is_refused_by_its_name(self):
        for wrong, field in ((True, "policy"), ("bandit", "policy"), ({}, "policy"), ({"may_stop": 1}, "policy.may_stop"),
                             ({"may_stop": True, "target": 1}, "policy.target"), ({"min": 0}, "policy.min"), ({"speeds": 2}, "policy.speeds"),
                             ({"speeds": {1: 1}}, "policy.speeds.1"), ({"speeds": {2: "fast"}}, "policy.speeds.2")):  # fmt: skip
            with self.subTest(wrong=wrong), self.assertRaises(InvalidArgument) as refused:
                specification(wrong)
            self.assertEqual(refused.exception.field, field)
        for name, wrong in (("deadline", 7200), ("deadline", "soon"), ("priority", 0), ("priority", "high"), ("priority", 1001)):
            with self.subTest(name=name, wrong=wrong), self.assertRaises(InvalidArgument) as refused:
                specification(**{name: wrong})
            self.assertEqual(refused.exception.field, name)


if __name__ == "__main__":
    unittest.main()
