"""One study as a user sees it: shared and alone, to the same bits."""

import unittest

import studies
from service import Service, results


class StudyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.service.start()
        for name, share in (("shared", "team"), ("alone", "nobody")):
            cls.service.run("study", "run", cls.service.write(f"{name}.yaml", studies.sha(name, share)))

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__(None, None, None)

    def test_sharing_is_invisible(self):
        shared = results(self.service, "shared")
        self.assertEqual(shared, results(self.service, "alone"))
        self.assertTrue(all(digest for _, _, _, digest in shared.values()))

    def test_each_claimed_step_is_trained_once_and_none_is_wasted(self):
        steps = self.service.json("study", "show", "shared")["steps"]
        self.assertEqual(steps["trained"], steps["unique"])
        self.assertEqual((steps["re_derived"], steps["wasted"]), (0, 0))
        alone = self.service.json("study", "show", "alone")["steps"]
        self.assertEqual(alone["trained"], alone["claimed"])
        self.assertEqual(alone["claimed"], steps["claimed"])

    def test_the_keys_that_scripts_rely_on_are_there(self):
        show = self.service.json("study", "show", "shared")
        self.assertLessEqual({"id", "name", "state", "trials", "steps", "merge_rate", "slot_seconds", "elapsed_seconds",
                              "makespan_bound_seconds", "best"}, show.keys())
        self.assertLessEqual({"total", "by_state"}, show["trials"].keys())
        self.assertLessEqual({"claimed", "unique", "trained", "re_derived", "wasted"}, show["steps"].keys())
        self.assertLessEqual({"trial", "metric", "value", "step"}, show["best"].keys())
        self.assertEqual(show["state"], "finished")
        trial = self.service.json("trial", "list", "shared")[0]
        self.assertLessEqual({"id", "state", "steps", "sequences", "metric", "state_sha256"}, trial.keys())

    def test_a_forecast_tells_what_is_trained_already(self):
        file = self.service.write("again.yaml", studies.sha("again", "team"))
        forecast = self.service.json("study", "forecast", file)
        self.assertLessEqual({"trials", "total_steps", "unique_steps", "merge_rate", "trained_steps", "remaining_steps",
                              "slot_seconds", "critical_path_seconds", "checkpoint_bytes", "studies"}, forecast.keys())
        self.assertEqual(forecast["trials"], 12)
        self.assertGreater(forecast["trained_steps"], 0)
        self.assertEqual(forecast["trained_steps"] + forecast["remaining_steps"], forecast["unique_steps"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
