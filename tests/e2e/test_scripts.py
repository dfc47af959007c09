"""Programs that can only be started, as trainers: examples/script, as it is and with mistakes made into it. Needs no PyTorch."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from service import BIN, PATIENCE_SECONDS, Service, results, wait_until

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "script" / "line.py"
LOADING = "load(arguments.load) if arguments.load else begin(given[\"initial\"][\"seed\"])"
STEP = "        said = train_step("
STEPS = 12


def study(name, lr, share="study", more=""):
    listed = ", ".join(f'"{text}"' if "(" in text else text for text in lr)
    return f"""
study: {name}
trainer: script:line.py
{more}
step: 5 updates
hyper_parameters:
  lr: [{listed}]
  seed: 3
metric: {{name: mse, goal: min}}
tuner: {{grid: {{steps: {STEPS}}}}}
share: {share}
"""


class Scripts(Service):
    """The program lies beside the study files. It notes each of its runs that trains, as FROM-TO, and its process."""

    def __init__(self, *up_options, slots=2):
        super().__init__(slots=slots, up_options=up_options, worker="espalier-script")
        shutil.copy(EXAMPLE, self.root)
        self.notes = self.root / "runs"
        self.change("    state = load(", f"""    if arguments.save:
        with open({str(self.notes)!r}, "a") as notes:
            notes.write(f"{{arguments.begin}}-{{arguments.end}} {{os.getpid()}}\\n")
    state = load(""")

    def change(self, before, after):
        change(self.root / "line.py", before, after)

    def hold_at(self, step):
        """The program begins to train the step only once release() was called."""
        self.change(STEP, f"""        while step + 1 == {step} and not os.path.exists({str(self.root / "go")!r}):
            time.sleep(0.01)
{STEP}""")
        self.change("import random\n", "import random\nimport time\n")

    def release(self):
        (self.root / "go").touch()

    def runs(self):
        return [line.split()[0] for line in self.notes.read_text().splitlines()] if self.notes.exists() else []

    def processes_of_runs(self):
        return [int(line.split()[1]) for line in self.notes.read_text().splitlines()]

    def run_study(self, name, lr, **parts):
        return self.run("study", "run", self.write(f"{name}.yaml", study(name, lr, **parts)), check=False)

    def begin_study(self, name, lr):
        return self.begin("study", "run", self.write(f"{name}.yaml", study(name, lr)))


def change(file, before, after):
    text = file.read_text()
    assert text.count(before) == 1, before
    file.write_text(text.replace(before, after))


class StudyTest(unittest.TestCase):
    def test_shared_beginnings_are_trained_once_at_one_go_and_end_as_those_trained_alone(self):
        lr = ["0.01", "MultiStep(0.01, [6], gamma=0.1)", "MultiStep(0.01, [8], gamma=0.1)", "Exponential(0.01, 0.9)"]
        with Scripts() as service:
            shared = service.run_study("shared", lr, share="team")  # which it cannot be: no further than the study
            self.assertEqual(shared.returncode, 0, shared.stderr)
            steps = service.json("study", "show", "shared")["steps"]
            self.assertEqual((steps["trained"], steps["wasted"], steps["re_derived"]), (12 + 6 + 4 + 12, 0, 0))
            self.assertEqual(sum(int(run.split("-")[1]) - int(run.split("-")[0]) for run in service.runs()), steps["trained"])
            self.assertLessEqual(len(service.runs()), 7)

            alone = service.run_study("alone", lr, share="nobody")
            self.assertEqual(alone.returncode, 0, alone.stderr)
            self.assertEqual(service.json("study", "show", "alone")["steps"]["trained"], 4 * STEPS)
            self.assertEqual(results(service, "alone"), results(service, "shared"))
            self.assertTrue(all(digest for _, _, _, digest in results(service, "shared").values()))

    def test_a_mark_that_comes_in_mid_stage_ends_the_program_at_its_next_save(self):
        with Scripts(slots=1) as service:
            service.hold_at(8)
            running = service.begin_study("marked", ["0.01"])
            wait_until(lambda: service.run("study", "show", "marked", check=False).returncode == 0, "the study is there")
            wait_until(lambda: service.json("study", "show", "marked")["steps"]["trained"] == 7, "the program waits")
            (trial,) = service.json("trial", "list", "marked")
            branch = service.begin("trial", "branch", str(trial["id"]), "--at", "11", "--set", "lr=0.001", "--name", "branch")
            wait_until(lambda: service.run("trial", "list", "branch", check=False).stdout.count("lr"), "the branch is there")
            service.release()
            for each in (running, branch):
                _, errors = each.communicate(timeout=PATIENCE_SECONDS)
                self.assertEqual(each.returncode, 0, errors)
            self.assertEqual(service.runs()[:3], ["0-12", "10-11", "11-12"])

    def test_a_node_manager_that_is_stopped_has_the_program_end_at_its_next_save(self):
        with Scripts(slots=1) as service:
            service.hold_at(7)
            running = service.begin_study("stopped", ["0.01"])
            wait_until(lambda: service.runs() and service.json("study", "show", "stopped")["steps"]["trained"] == 6, "the program waits")
            (node,) = wait_until(lambda: service.processes().get("node"), "there is a node manager")
            os.kill(node, signal.SIGTERM)
            wait_until(lambda: "stopping" in (service.data / "logs" / "node-manager.log").read_text(), "the node manager is asked to stop")
            service.release()
            _, errors = running.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(running.returncode, 0, errors)
            self.assertEqual(service.runs(), ["0-12", "10-12"])
            self.assertEqual(service.json("study", "show", "stopped")["steps"]["re_derived"], 0)

    def test_a_step_that_takes_longer_than_the_study_allows_is_a_hang_that_is_killed_and_tried_again(self):
        with Scripts(slots=1) as service:
            service.hold_at(3)
            running = service.begin("study", "run", service.write("hung.yaml", study("hung", ["0.01"], more="hang_after: 2s")))
            wait_until(service.runs, "the program runs")
            program = service.processes_of_runs()[0]
            wait_until(lambda: not service.alive(program), "the program is killed")
            service.release()
            _, errors = running.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(running.returncode, 0, errors)
            self.assertEqual(set(service.runs()), {"0-12"})
            self.assertGreater(len(service.runs()), 1)
            undisturbed = service.run_study("undisturbed", ["0.01"])
            self.assertEqual(undisturbed.returncode, 0, undisturbed.stderr)
            self.assertEqual(results(service, "hung"), results(service, "undisturbed"))

    def test_a_worker_that_is_killed_takes_its_program_along_and_the_study_ends_as_undisturbed(self):
        with Scripts(slots=1) as service:
            service.hold_at(3)
            running = service.begin_study("killed", ["0.01"])
            wait_until(service.runs, "the program runs")
            (program,) = service.processes_of_runs()
            service.kill("worker")
            wait_until(lambda: not service.alive(program), "the program is gone")
            service.release()
            _, errors = running.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(running.returncode, 0, errors)
            self.assertEqual(service.runs(), ["0-12", "0-12"])
            undisturbed = service.run_study("undisturbed", ["0.01"])
            self.assertEqual(undisturbed.returncode, 0, undisturbed.stderr)
            self.assertEqual(results(service, "killed"), results(service, "undisturbed"))

    def test_a_program_that_dies_is_started_again_and_one_that_fails_says_why(self):
        with Scripts() as service:
            died = service.root / "died"
            service.change(STEP, f"""        if step == 4 and not os.path.exists({str(died)!r}):
            open({str(died)!r}, "w").close()
            os.abort()
{STEP}""")
            run = service.run_study("died", ["0.01"])
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertTrue(died.exists())
            self.assertEqual(service.runs(), ["0-12", "0-12"])

            service.change("            os.abort()", "            pass")
            service.change(STEP, f"        assert step < 9, 'out of patience'\n{STEP}")
            service.run_study("failed", ["0.01"])
            (trial,) = service.json("trial", "list", "failed")
            self.assertEqual(trial["state"], "failed")
            (node,) = service.json("plan", "show", "failed")
            shown = str(service.json("stage", "explain", f"{node['id']}@10"))
            self.assertIn("line.py ended with status 1", shown)
            self.assertIn("AssertionError: out of patience", shown)

            service.change("assert step < 9, 'out of patience'", "state['weights'][0] *= float('nan') if step == 9 else 1")
            self.assertEqual(service.run_study("diverged", ["0.01"]).returncode, 0)
            (trial,) = service.json("trial", "list", "diverged")
            self.assertEqual((trial["state"], service.json("study", "show", "diverged")["steps"]["trained"]), ("done", 10))

    def test_what_can_be_no_trainer_is_refused_before_anything_is_trained(self):
        for change_to_make, expected in [
            (("print(json.dumps(DECLARATION))", "print('usage: line.py')"), "it is no JSON object"),
            (("print(json.dumps(DECLARATION))", "raise SystemExit('no such option')"), "no such option"),
            (("\"metrics\": [\"mse\"]", "\"metric\": [\"mse\"]"), "metric: is not known"),
        ]:
            with self.subTest(expected), Scripts() as service:
                service.change(*change_to_make)
                refused = service.run_study("refused", ["0.01"])
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertIn("refused.yaml:3: trainer: ", refused.stderr)
                self.assertIn(expected, refused.stderr)


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="espalier script ")))
        self.program = self.folder / "line.py"
        shutil.copy(EXAMPLE, self.program)

    def check(self):
        run = subprocess.run([BIN / "espalier", "trainer", "check", f"script:{self.program}", "--set", "bs=8", "--output", "json"],
                             capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS)
        return run.returncode, json.loads(run.stdout) if run.stdout else run.stderr

    def test_the_example_passes(self):
        status, report = self.check()
        self.assertEqual(status, 0, report)

    def test_mistakes_are_found(self):
        for name, before, after, expected in [
            ("ignores --load", LOADING, "begin(given[\"initial\"][\"seed\"])", "\"step\": 2"),
            ("forgets the velocity", "json.dump(state, file)", "json.dump({**state, 'velocity': [0.0, 0.0]}, file)", "\"step\": 3"),
            ("draws from another generator", "draw.setstate(state[\"draw\"])", "pass", ""),
            ("writes no file", "os.rename(path + \".new\", path)", "pass", "there is no file"),
            ("says no loss", "**said, \"saved\"", "\"saved\"", "no number \\\"loss"),
            ("says no step", "{\"step\": step + 1, **said", "{**said", "said nothing of step 1"),
            ("is late", "\"step\": step + 1, **said", "\"step\": step + 2, **said", "its next step is 1"),
            ("measures nothing", "print(json.dumps({\"step\": arguments.end, \"evaluate\"", "str(({\"step\": arguments.end, \"evaluate\"", "measured nothing"),
            ("ends early", "for step in range(arguments.begin, arguments.end):", "for step in range(arguments.begin, arguments.end - 1):", "said nothing of step 6"),
        ]:
            with self.subTest(name):
                shutil.copy(EXAMPLE, self.program)
                change(self.program, before, after)
                status, report = self.check()
                self.assertEqual(status, 1, report)
                self.assertIn(expected, json.dumps(report))


if __name__ == "__main__":
    unittest.main(verbosity=2)
