"""With the states of which other study a study's trials begin, as it is said in Python."""

import types
import unittest

from espalier.client.reuse import reuse_rule
from espalier.errors import InvalidArgument


class ReuseTest(unittest.TestCase):
    def test_a_study_its_id_or_a_dict_with_a_step_is_what_a_study_file_says(self):
        self.assertIsNone(reuse_rule(None))
        self.assertEqual(reuse_rule(12), {"study": 12})
        self.assertEqual(reuse_rule(types.SimpleNamespace(id=12)), {"study": 12})
        self.assertEqual(reuse_rule({"study": 12, "until": 60}), {"study": 12, "until": 60})

    def test_anything_else_is_refused_by_its_name(self):
        for wrong in ("12", 0, True, 1.5, {}, {"until": 3}, {"study": 1, "until": 0}, {"study": 1, "from": 2}):
            with self.subTest(wrong=wrong), self.assertRaises(InvalidArgument) as refused:
                reuse_rule(wrong)
            self.assertEqual(refused.exception.field, "reuse_from")


if __name__ == "__main__":
    unittest.main()
