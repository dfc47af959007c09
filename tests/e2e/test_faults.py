"""Law 4: kill -9 of any process at any moment loses nothing that was acknowledged; the study goes on by itself, or after the
next `espalier up`, and ends with the same result."""

import random
import time
import unittest

import studies
from service import Service, results, wait_until

FAILPOINTS = {
    "before the commit": "commit.before=12",
    "after the commit, before the reply": "commit.after=12",
    "after an effect": "effect.after=12",
    "between the checkpoint's storing and its report": "checkpoint.stored=3",
    "after a step of a worker": "worker.train.after=9",
}
MOMENTS = 20


def undisturbed():
    with Service() as service:
        service.run("study", "run", service.write("study.yaml", studies.sha("undisturbed")))
        return results(service, "undisturbed")


class FaultsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.expected = undisturbed()

    def check_study(self, service, name):
        self.assertEqual(results(service, name), self.expected)
        steps = service.json("study", "show", name)["steps"]
        self.assertEqual(steps["wasted"], 0)
        self.assertEqual(steps["trained"] - steps["re_derived"], steps["unique"])

    def test_a_kill_at_each_fail_point_changes_no_result(self):
        for place, failpoint in FAILPOINTS.items():
            with self.subTest(place), Service(failpoints=failpoint) as service:
                service.run("study", "run", service.write("study.yaml", studies.sha("failpoint")))
                self.assertTrue((service.root / "failed once").exists(), "the fail-point was never passed")
                self.check_study(service, "failpoint")

    def test_kills_at_random_moments_change_no_result(self):
        seed = int(time.time())
        print(f"seed {seed}", flush=True)
        draw = random.Random(seed)
        roles = ["worker", "node", "master", "postgres", "up"] * (MOMENTS // 5)
        with Service() as service:
            for number, role in enumerate(roles):
                name = f"random-{number}"
                run = service.begin("study", "run", service.write(f"{name}.yaml", studies.sha(name)))
                time.sleep(draw.uniform(0.05, 3))  # the moment itself; nothing waits for it
                with self.subTest(role=role, seed=seed, number=number):
                    service.kill(role, draw.randrange(4))
                    if role == "up":
                        service.start()
                    _, errors = run.communicate(timeout=300)
                    self.assertEqual(run.returncode, 0, errors)
                    self.check_study(service, name)


class StoppingTest(unittest.TestCase):
    def test_a_second_run_of_a_file_after_a_restart_trains_nothing(self):
        with Service() as service:
            file = service.write("study.yaml", studies.sha("again", share="team"))
            service.run("study", "run", file)
            first = results(service, "again")
            service.stop()
            service.start()
            shown = service.json("study", "run", file)
            self.assertEqual(shown["steps"]["trained"], 0)
            self.assertEqual(results(service, "again"), first)

    def test_a_stop_in_mid_study_is_gone_on_from_by_the_next_up(self):
        with Service() as service:
            run = service.begin("study", "run", service.write("study.yaml", studies.sha("stopped")))
            wait_until(lambda: service.run("study", "show", "stopped", check=False).returncode == 0, "the study exists")
            service.stop()
            service.start()
            _, errors = run.communicate(timeout=300)
            self.assertEqual(run.returncode, 0, errors)

    def test_the_same_file_run_twice_at_once_is_one_study(self):
        with Service() as service:
            file = service.write("study.yaml", studies.sha("twice"))
            first = service.begin("study", "run", file)
            second = service.begin("study", "run", file)
            outputs = [process.communicate(timeout=300) for process in (first, second)]
            self.assertEqual([first.returncode, second.returncode], [0, 0], outputs)
            self.assertEqual(len(service.json("study", "list")), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
