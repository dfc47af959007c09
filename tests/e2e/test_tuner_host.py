"""A study outlives its client: the tuner host of the service carries it on, and nobody can tell from the results."""

import json
import signal
import unittest

import studies
from service import Service, results, wait_until


def asha(name, more=""):
    """Twelve trials of asynchronous halving."""
    return studies.sha(name, "study").replace("sha: {min: 4, max: 16, reduction: 2}", f"asha: {{min: 4, max: 16, reduction: 2{more}}}")


class TunerHostTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.service.start()
        cls.service.run("study", "run", cls.service.write("undisturbed.yaml", studies.sha("undisturbed", "nobody")))
        cls.expected = results(cls.service, "undisturbed")

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__(None, None, None)

    def trained(self, name):
        shown = self.service.run("study", "show", name, check=False)
        return shown.returncode == 0 and json.loads(shown.stdout)["steps"]["trained"] > 0

    def wait_for_end(self, name):
        return wait_until(lambda: (show := self.service.json("study", "show", name))["state"] == "finished" and show, f"{name} is finished")

    def test_a_study_whose_client_was_killed_ends_by_itself_with_the_same_results(self):
        running = self.service.begin("study", "run", self.service.write("killed.yaml", studies.sha("killed")))
        wait_until(lambda: self.trained("killed"), "something is trained")
        running.kill()
        running.communicate()
        show = self.wait_for_end("killed")
        self.assertEqual(results(self.service, "killed"), self.expected)
        self.assertEqual((show["steps"]["re_derived"], show["steps"]["wasted"]), (0, 0))

    def test_a_detached_study_ends_while_tuner_hosts_are_killed_one_after_another(self):
        begun = self.service.json("study", "run", "--detach", self.service.write("detached.yaml", studies.sha("detached")))
        for _ in range(3):
            self.service.kill("tuner host")
        self.assertEqual(self.service.json("study", "watch", begun["id"])["state"], "finished")
        self.assertEqual(results(self.service, "detached"), self.expected)

    def test_a_mistake_shows_before_a_study_is_detached(self):
        bad = studies.sha("bad").replace("dropout: 0.1", "dropuot: 0.1")
        refused = self.service.run("study", "run", "--detach", self.service.write("bad.yaml", bad), check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("did you mean dropout", refused.stderr)

    def test_a_client_that_comes_back_finds_what_the_host_has_done(self):
        file = self.service.write("again.yaml", studies.sha("again"))
        running = self.service.begin("study", "run", file)
        wait_until(lambda: self.trained("again"), "something is trained")
        running.send_signal(signal.SIGKILL)
        running.communicate()
        self.service.run("study", "run", file)
        self.assertEqual(results(self.service, "again"), self.expected)

    def test_asynchronous_halving_is_asked_by_idle_slots_and_wastes_nothing(self):
        self.service.run("study", "run", self.service.write("asked.yaml", asha("asked")))
        steps = self.service.json("study", "show", "asked")["steps"]
        self.assertEqual(steps["wasted"], 0)
        trials = self.service.json("trial", "list", "asked")
        self.assertEqual(len(trials), 12)
        self.assertEqual({trial["state"] for trial in trials}, {"done"})
        self.assertTrue(any(trial["steps"] == 16 for trial in trials))
        by_sequences = {sequences: values for sequences, values in results(self.service, "asked").items()}
        for sequences, (state, steps_of, metric, digest) in self.expected.items():
            if by_sequences[sequences][1] == steps_of:  # to the same bits, wherever both went equally far
                self.assertEqual(by_sequences[sequences], (state, steps_of, metric, digest))


if __name__ == "__main__":
    unittest.main(verbosity=2)
