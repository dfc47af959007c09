"""The policy is a setting of the service: an administrator chooses it, and it stays through kills and restarts."""

import unittest

import studies
from service import Service, wait_until


class PolicyTest(unittest.TestCase):
    def test_the_policy_that_is_chosen_stays_through_kills_and_restarts(self):
        with Service() as service:
            first = service.json("server", "policy")
            self.assertEqual({"policy", "chosen_by", "chosen_at", "policies"}, set(first))
            self.assertEqual(("critical_path", None, None), (first["policy"], first["chosen_by"], first["chosen_at"]))
            self.assertIn("throughput", [each["name"] for each in first["policies"]])
            self.assertTrue(all(each["summary"] for each in first["policies"]))
            chosen = service.json("server", "policy", "throughput")
            self.assertEqual(("throughput", "local"), (chosen["policy"], chosen["chosen_by"]))
            self.assertIn("chosen by local", service.text("server", "policy"))

            service.kill("master")
            wait_until(service.servers, "the master is back")
            self.assertEqual(chosen, service.json("server", "policy"))
            service.stop()
            service.start()
            self.assertEqual(chosen, service.json("server", "policy"))

            refused = service.run("server", "policy", "fifo", check=False)
            self.assertEqual(1, refused.returncode)
            self.assertIn("policy: no policy 'fifo'; expected one of critical_path, critical_path_not_preempting, ", refused.stderr)
            self.assertEqual(chosen, service.json("server", "policy"))

    def test_bandit_cancels_what_lags_behind_where_the_study_lets_it_and_says_why(self):
        steps = 200  # more than are trained until what was measured has reached the policy, and its release the worker
        with Service(slots=1) as service:  # one trial after the other: what the second is compared with is known
            service.run("server", "policy", "bandit")
            for name, rule in (("strict", "policy: {may_stop: true}"), ("patient", "")):
                file = studies.grid(name, ["0.1", "1.0e-9"], steps, updates=20) + f"evaluate: {{every: 5}}\n{rule}\n"
                finished = service.run("study", "run", service.write(f"{name}.yaml", file), check=False)
                self.assertIn(finished.returncode, (0, 1), finished.stderr)
            good, released = service.json("trial", "list", "strict")
            self.assertEqual(("cancelled", "bandit"), (released["state"], released["label"]["policy"]))
            self.assertRegex(released["label"]["text"], r"^released at step \d+: its best was 0\.\d+, its last 0\.\d+, the best of its study 0\.\d+$")
            self.assertIn(released["label"]["text"], service.text("trial", "list", "strict"))
            self.assertIn("bandit: released at step", service.text("trial", "show", released["id"]))
            self.assertEqual(("done", None), (good["state"], good["label"]))
            self.assertEqual(["done", "done"], [each["state"] for each in service.json("trial", "list", "patient")])
            self.assertLess(service.json("study", "show", "strict")["steps"]["trained"], 2 * steps)

    def test_hermes_lets_trainings_take_turns_and_a_killed_master_remembers_whose_it_is(self):
        study = """
study: turns
trainer: synthetic
hyper_parameters: {curve_rate: [0.001, 0.05], step_seconds: 0.2}
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 100}}
"""
        with Service(slots=1) as service:
            service.run("server", "policy", "hermes")
            service.run("study", "run", service.write("turns.yaml", study), "--detach")
            slow, fast = 0, 1

            def trial(which):
                return service.json("trial", "list", "turns")[which]

            # The first had its turn; what is known of it stands on it.
            wait_until(lambda: trial(fast)["label"] is not None, "the second trial trains", every=0.5)
            self.assertEqual("hermes", trial(slow)["label"]["policy"])
            service.kill("master")
            wait_until(service.servers, "the master is back")
            wait_until(lambda: trial(fast)["state"] == "done", "the second trial is done", every=0.5)
            self.assertNotEqual("done", trial(slow)["state"])
            self.assertRegex(trial(slow)["label"]["text"], r"^plan 1 at \d+@\d+, rate \S+ loss ")
            wait_until(lambda: trial(slow)["state"] == "done", "the first trial is done", every=0.5)
            self.assertEqual(0, service.json("study", "show", "turns")["steps"]["wasted"])

    def test_by_its_deadline_a_study_has_gone_for_the_best_and_has_its_state_although_a_master_was_killed(self):
        study = """
study: due
trainer: synthetic
hyper_parameters: {curve_rate: [0.01, 0.08, 0.02, 0.05, 0.03, 0.06, 0.04, 0.07, 0.015, 0.025], step_seconds: 0.1}
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 400}}
evaluate: {every: 2}
policy: {may_stop: true, min: 4, speeds: {2: 1.9}}
deadline: 20s
"""
        with Service(slots=2) as service:
            service.run("server", "policy", "hypersched")
            service.run("study", "run", service.write("due.yaml", study), "--detach")

            def labels():
                return [trial["label"]["text"] for trial in service.json("trial", "list", "due") if trial["label"]]

            wait_until(lambda: any(text.startswith("held") for text in labels()), "a trial is held", every=0.5)
            service.kill("master")
            wait_until(lambda: service.json("study", "show", "due")["state"] == "finished", "its deadline ends it", every=0.5)
            shown = service.json("study", "show", "due")
            best = service.json("trial", "show", shown["best"]["trial"])
            self.assertEqual(("cancelled", "hypersched"), (best["state"], best["label"]["policy"]))
            self.assertRegex(best["label"]["text"], r"^released at its deadline: (live|resizing), \d+ steps in ")
            self.assertTrue(best["state_sha256"])
            self.assertTrue(any(text.startswith("released at its deadline: held") for text in labels()))


if __name__ == "__main__":
    unittest.main()
