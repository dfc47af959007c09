"""Laws 3 and 8 with real processes: live splits, branches behind a runner, shortened and stopped runs."""

import os
import re
import signal
import unittest

import studies
from service import Service, wait_until

SLOW = 600  # updates a step: long enough to act while a run is under way


def progress(service, study):
    """The furthest step that the study's plan shows as trained."""
    nodes = service.json("plan", "show", study)
    return max([s["to"] for n in nodes for s in n["stages"] if s["state"] == "trained"], default=0)


def steps(service, study):
    return service.json("study", "show", study)["steps"]


def begin(service, name, lr, length):
    return service.begin("study", "run",
                         service.write(f"{name}.yaml", studies.grid(name, lr, length, share="team", updates=SLOW)))


class RunsTest(unittest.TestCase):
    def finish(self, *runs):
        for run in runs:
            _, errors = run.communicate(timeout=300)
            self.assertEqual(run.returncode, 0, errors)

    def wait_for_step(self, service, study, step):
        def reached():
            shown = service.run("plan", "show", study, check=False)
            return shown.returncode == 0 and progress(service, study) >= step
        wait_until(reached, f"{study} has trained {step} steps")

    def test_a_trial_that_parts_ahead_of_the_runner_starts_from_the_runs_mark(self):
        with Service() as service:
            first = begin(service, "runner", ["0.1"], 60)
            self.wait_for_step(service, "runner", 2)
            second = begin(service, "ahead", ["Piecewise([0.1, 0.01], [40])"], 50)
            self.finish(first, second)
            self.assertEqual(steps(service, "runner")["trained"], 60)
            ahead = steps(service, "ahead")
            # The first 40 by the run that both studies share from then on.
            self.assertEqual((ahead["trained"], ahead["re_derived"], ahead["reused"]), (50, 0, 0))

    def test_a_trial_that_parts_behind_the_runner_starts_from_the_nearest_checkpoint_and_the_runner_goes_on(self):
        with Service() as service:
            self.finish(begin(service, "short", ["0.1"], 5))
            first = begin(service, "runner", ["0.1"], 60)
            self.wait_for_step(service, "runner", 15)
            second = begin(service, "behind", ["Piecewise([0.1, 0.01], [10])"], 15)
            self.finish(first, second)
            runner = steps(service, "runner")
            self.assertEqual((runner["trained"], runner["re_derived"], runner["reused"]), (55, 0, 5))
            behind = steps(service, "behind")
            self.assertEqual((behind["trained"], behind["re_derived"], behind["wasted"]), (10, 5, 0))

    def test_cancelling_the_only_trial_that_needs_the_far_part_shortens_the_run(self):
        with Service() as service:
            far = begin(service, "far", ["0.1"], 200)
            self.wait_for_step(service, "far", 1)
            near = begin(service, "near", ["0.1"], 30)
            wait_until(lambda: service.run("study", "show", "near", check=False).returncode == 0, "near exists")
            wait_until(lambda: service.json("study", "show", "near")["trials"]["total"] == 1, "near's trial exists")
            service.run("study", "cancel", "far")
            self.finish(near)
            far.communicate(timeout=300)
            wait_until(lambda: not any(s["running_runs"] for s in service.json("server", "list")), "the slots are free")
            self.assertEqual(progress(service, "near"), 30)
            self.assertEqual(progress(service, "far"), 30)

    def test_a_run_whose_last_claim_goes_stops_at_once(self):
        with Service() as service:
            run = begin(service, "stopped", ["0.1"], 500)
            self.wait_for_step(service, "stopped", 3)
            service.run("study", "cancel", "stopped")
            run.communicate(timeout=300)
            wait_until(lambda: not any(s["running_runs"] for s in service.json("server", "list")), "the slots are free")
            self.assertLess(progress(service, "stopped"), 400)

    def test_stages_say_what_they_wait_for_and_one_that_failed_is_tried_again(self):
        with Service(slots=1) as service:
            text = studies.grid("explained", ["0.1", "0.2"], 20, updates=SLOW)
            sha = text.replace("{grid: {steps: 20}}", "{sha: {min: 20, max: 40, reduction: 2}}")
            run = service.begin("study", "run", service.write("explained.yaml", sha))
            wait_until(lambda: service.run("plan", "show", "explained", check=False).returncode == 0
                       and len(service.json("plan", "show", "explained")) == 2, "both trials are in the plan")
            run.send_signal(signal.SIGSTOP)  # the study stays in its first rung
            stages = [f"{node['id']}@20" for node in service.json("plan", "show", "explained")]

            def explained(stage):
                return service.json("stage", "explain", stage)

            def running():
                return [stage for stage in stages if explained(stage)["state"] == "running"]
            doomed = wait_until(running, "one of them runs")[0]
            waits = explained(next(stage for stage in stages if stage != doomed))
            self.assertEqual((waits["state"], waits["waits_for"]["what"]), ("waiting", "slot"))
            self.assertEqual(len(waits["serves"]), 1)

            crashed = set()
            for _ in range(3):
                place = wait_until(lambda: (at := explained(doomed)["placed_on"]) and at["step"] > 0 and
                                   at["run"] not in crashed and at, "a new run trains")
                self.assertEqual((place["server"], place["slot"]), (service.servers()[0]["name"], 0))
                by_run = service.json("stage", "explain", "--run", place["run"])
                self.assertEqual((by_run["stage"], by_run["state"]), (doomed, "running"))
                crashed.add(place["run"])
                os.kill(service.processes()["worker"][0], signal.SIGSEGV)
            failed = wait_until(lambda: (stage := explained(doomed))["state"] == "failed" and stage, "it has failed")
            self.assertEqual(len(failed["serves"]), 1)

            place = re.search(r"stage retry (\d+@\d+)", failed["why"]).group(1)
            self.assertEqual(service.json("stage", "retry", place)["trials"], failed["serves"])
            self.assertEqual(service.run("stage", "retry", place, check=False).returncode, 1)  # nothing failed any more
            wait_until(lambda: explained(doomed)["state"] == "done", "it is trained after all")
            run.send_signal(signal.SIGCONT)
            self.finish(run)
            self.assertEqual({trial["state"] for trial in service.json("trial", "list", "explained")}, {"done"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
