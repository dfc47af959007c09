"""The trainer protocol (docs/trainer_protocol.md), as a node manager sees it."""

import os
import select
import signal
import subprocess
import sys

from cuts import CutsTest, Trial, begin, go_on
from fake_node_manager import HERE, Failed

PATIENCE_SECONDS = 60  # a bound for what comes at once


class ProtocolTest(CutsTest):
    def begun(self, trainer, values=None, environment=None):
        worker = self.worker(trainer, environment)
        begin(worker, Trial(values or {}))
        return worker

    def refused(self, kind, message, call, *arguments):
        """The call fails so; returns whether the state is intact."""
        with self.assertRaisesRegex(Failed, message) as raised:
            call(*arguments)
        self.assertEqual(raised.exception.kind, kind)
        return raised.exception.state_intact

    def test_a_description_lists_hyper_parameters_sorted_with_the_seed_among_them(self):
        described = self.worker("odd.py:Odd").describe()
        [trainer] = described["trainers"]
        self.assertEqual(described["protocolVersion"], 1)
        self.assertRegex(described["deviceKind"], "^cpu .* torch-.* threads-1$")
        self.assertEqual([each["name"] for each in trainer["hyperParameters"]], ["failure", "large", "seed", "tenth", "text"])
        self.assertEqual(trainer["hyperParameters"][1], {"name": "large", "type": "VALUE_TYPE_INTEGER", "initial": True,
                                                         "defaultValue": {"integer": "9223372036854775807"}})  # fmt: skip
        self.assertEqual(trainer["dataDigest"], "unknown")

    def test_an_administrator_may_call_several_processors_by_one_name(self):
        own, ours, none = (self.worker("odd.py:Odd", environment).describe()["deviceKind"].split()
                           for environment in ({}, {"ESPALIER_PROCESSOR": " Our racks "}, {"ESPALIER_PROCESSOR": ""}))  # fmt: skip
        self.assertEqual(own[:2] + ["our-racks"] + own[3:], ours)
        self.assertEqual(own[:2] + own[3:], none)
        self.assertNotEqual(own, ours)

    def test_whole_numbers_beyond_2_to_53_and_metrics_that_are_not_finite_cross_the_wire(self):
        metrics = self.begun("odd.py:Odd").train()
        self.assertEqual(metrics, {"loss": "NaN", "samples": 1, "rise": "Infinity", "fall": "-Infinity", "same": 1, "tenth": 0.1})

    def test_requests_out_of_order_are_refused_and_end_the_training(self):
        worker = self.worker("odd.py:Odd")
        self.refused("REQUEST", "before init", worker.setup, {})
        worker.init({})
        self.refused("REQUEST", "train came before setup", worker.train)
        self.refused("REQUEST", "before init", worker.setup, {})
        begin(worker, Trial())
        worker.step = 3
        self.refused("REQUEST", "train to step 4 came at step 0", worker.train)
        begin(worker, Trial())
        worker.step = 3
        self.assertTrue(self.refused("REQUEST", "save of step 3 came at step 0", worker.save, self.folder / "state"))
        self.refused("REQUEST", "no known kind", worker.ask, "dance")

    def test_wrong_values_are_refused_by_name(self):
        worker = self.worker("odd.py:Odd")
        for values, message in [({"large": 0.5}, "large: expected a value that is integer"), ({"depth": 2}, "depth: the trainer has no such")]:
            self.refused("REQUEST", message, worker.init, values)
        worker.values["large"] = {"integer": str(2**63)}
        self.refused("REQUEST", "no trainer 'Even'", lambda: worker.ask("init", trainer="Even"))
        self.refused("REQUEST", "text: the value is missing", lambda: worker.ask("init", trainer="Odd", values={
            name: value for name, value in {**worker.values, "large": {"integer": 1}}.items() if name not in ("text", "depth")}))  # fmt: skip
        begin(worker, Trial())
        self.refused("REQUEST", "tenth: is fixed at step 0", worker.setup, {"tenth": 0.2})

    def test_failures_of_the_trainer_come_with_a_traceback_and_end_the_training(self):
        worker = self.worker("odd.py:Odd")
        for failure, kind, message in [
            ("error", "TRAINER", r"odd\.py.*in train(.|\n)*LookupError: there is no such word"),
            ("exit", "TRAINER", "SystemExit: enough"),
            ("memory", "OUT_OF_MEMORY", "memory"),
            ("metrics", "TRAINER", r"^train\(\) returned no metric 'samples'; it returned 'loss'$"),
        ]:
            with self.subTest(failure):
                begin(worker, Trial({"failure": failure}))
                self.assertFalse(self.refused(kind, message, worker.train))
                self.refused("REQUEST", "before init", worker.evaluate)

    def test_a_training_that_its_trainer_finishes_stands_where_it_stood(self):
        worker = self.begun("odd.py:Odd")
        worker.train()
        worker.setup({"failure": "enough"})
        self.assertTrue(self.refused("FINISHED", "^no word is left$", worker.train))
        self.assertEqual(worker.evaluate()["sum"], 3)
        worker.step -= 1
        self.assertIn("stateSha256", worker.save(self.folder / "state"))

    def test_a_failed_evaluation_leaves_the_training_as_it_was(self):
        worker = self.begun("odd.py:Odd")
        worker.train()
        before = worker.evaluate()
        worker.setup({"failure": "evaluate"})
        self.assertTrue(self.refused("TRAINER", "no such measure", worker.evaluate))
        worker.setup({"failure": ""})
        self.assertEqual(worker.evaluate(), before)

    def test_a_device_that_has_failed_makes_the_worker_unusable(self):
        worker = self.begun("odd.py:Odd", {"failure": "device"})
        with self.assertRaisesRegex(Failed, "illegal memory access") as raised:
            worker.train()
        self.assertTrue(raised.exception.worker_unusable)
        begin(worker, Trial({"failure": "error"}))
        with self.assertRaises(Failed) as raised:
            worker.train()
        self.assertFalse(raised.exception.worker_unusable)

    def test_a_long_step_says_that_it_gets_on_if_the_node_manager_wants_to_hear_it(self):
        worker = self.begun("odd.py:Odd", {"failure": "long"})
        worker.train()
        self.assertEqual(worker.heartbeats, [])
        worker.describe(["heartbeat"])
        worker.train()
        self.assertEqual(worker.heartbeats, [worker.last_id] * 2)

    def test_a_worker_that_dies_is_seen_to(self):
        worker = self.begun("odd.py:Odd", {"failure": "die"})
        with self.assertRaisesRegex(EOFError, "ended with 7"):
            worker.train()

    def test_steps_are_logged_before_they_are_answered(self):
        worker = self.worker("odd.py:Odd")
        log = self.folder / "steps"
        worker.init({}, step_log=log)
        worker.setup_all({})
        for step in (1, 2):
            worker.train()
            self.assertRegex(log.read_text().splitlines()[-1], rf"^5 {step} \d+\.\d{{6}}$")
        self.assertEqual(len(log.read_text().splitlines()), 2)

    def test_a_save_holds_the_state_that_was_when_it_was_asked_for(self):
        worker = self.begun("odd.py:Odd")
        worker.train()
        quiet = worker.save(self.folder / "quiet")
        begin(worker, Trial())
        worker.train()
        asked = worker.begin_save(self.folder / "behind")
        worker.train()
        self.assertEqual(worker.answer(asked)["stateSha256"], quiet["stateSha256"])

    def test_a_state_that_cannot_be_written_leaves_the_training_as_it_was(self):
        worker = self.begun("odd.py:Odd")
        self.assertTrue(self.refused("CHECKPOINT", "cannot write", worker.save, self.folder / "no" / "folder"))
        worker.train()

    def test_a_state_of_another_training_is_refused_and_says_what_differs(self):
        worker = self.begun("odd.py:Odd")
        worker.train()
        worker.save(self.folder / "state")
        begin(worker, Trial({"tenth": 0.2}))
        self.refused("CHECKPOINT", "of another training: initial values .*'tenth': 0.1", worker.load, self.folder / "state", 1)
        begin(worker, Trial({"tenth": 0.2}))
        worker.load(self.folder / "state", 1, of_other_code=True)
        worker.train()
        begin(worker, Trial())
        (self.folder / "state").write_bytes(b"x" * 100)
        self.refused("CHECKPOINT", "cannot read", worker.load, self.folder / "state", 1)

    def test_states_that_are_being_written_are_written_before_the_worker_stops(self):
        worker = self.begun("odd.py:Odd")
        worker.begin_save(self.folder / "state")
        self.assertEqual(worker.stop(), 0)
        self.assertTrue((self.folder / "state").exists())

    def test_a_closed_socket_ends_the_worker(self):
        worker = self.begun("odd.py:Odd")
        worker.socket.close()
        self.assertEqual(worker.process.wait(PATIENCE_SECONDS), 0)

    def test_a_frame_that_is_too_long_or_no_json_ends_the_worker(self):
        for frame, message in [((16 << 20 | 1).to_bytes(4, "little"), "16777217 bytes"), (b"\2\0\0\0{]", "no JSON"), (b"\1\0\0\0007", "no JSON")]:
            with self.subTest(message):
                worker = self.begun("odd.py:Odd")
                worker.socket.sendall(frame)
                self.assertEqual(worker.process.wait(PATIENCE_SECONDS), 1)
                self.assertIn(message, worker.log.read_text())

    def test_signals_that_ask_for_the_end_are_left_to_the_node_manager(self):
        worker = self.begun("odd.py:Odd")
        worker.process.send_signal(signal.SIGTERM)
        worker.process.send_signal(signal.SIGINT)
        worker.train()

    def test_what_is_no_trainer_is_refused_before_anything_is_answered(self):
        for place, message in [("odd.py:Even", "Even is neither"), ("even.py:Odd", "there is no file")]:
            with self.subTest(place), self.assertRaisesRegex(EOFError, message):
                self.worker(place).describe()

    def test_a_worker_whose_parent_is_killed_ends_and_leaves_no_loader_process(self):
        never = self.folder / "never"
        os.mkfifo(never)
        # Every process of the family holds this pipe's other end: it is closed once the last has ended.
        read_end, write_end = os.pipe()
        parent = subprocess.Popen(
            [sys.executable, str(HERE / "parent.py"), str(self.folder)], pass_fds=[write_end], stdout=subprocess.PIPE,
            env={**os.environ, "NEVER": str(never), "HELD": str(write_end)})  # fmt: skip
        os.close(write_end)
        self.addCleanup(parent.stdout.close)
        self.assertEqual(parent.stdout.readline(), b"loader processes run\n")
        parent.kill()
        parent.wait()
        ended, _, _ = select.select([read_end], [], [], PATIENCE_SECONDS)
        self.assertTrue(ended, "a process of the family goes on")
        os.close(read_end)


class RefusedTest(CutsTest):
    workers_are_copies = True

    def assert_refused(self, trainer, message, call=lambda worker: None):
        worker = self.worker(trainer)
        with self.assertRaisesRegex(Failed, message):
            begin(worker, Trial())
            call(worker)

    def test_what_cannot_be_tracked_is_refused_at_the_first_save_by_its_key(self):
        self.assert_refused("odd.py:Untrackable", r"^things\.counter is of type", lambda worker: worker.save(self.folder / "state"))

    def test_a_scheduler_is_refused_where_a_hyper_parameter_writes_the_same(self):
        self.assert_refused("odd.py:ScheduledTwice", "^scheduler: a scheduler writes lr, and so does a hyper-parameter")

    def test_a_scheduler_is_refused_once_setup_writes_the_same_under_another_name(self):
        self.assert_refused("odd.py:ScheduledTwiceByOtherNames", "^scheduler: a scheduler writes lr", lambda worker: worker.setup({"rate": 0.1}))

    def test_a_hyper_parameter_that_nothing_takes_is_refused_by_name(self):
        self.assert_refused("odd.py:NotTakenByAnything", "takes the hyper-parameter warmth")

    def test_what_looks_like_state_and_is_not_tracked_is_named_once(self):
        worker = self.worker("odd.py:Untracked")
        for _ in range(2):
            begin(worker, Trial())
            go_on(worker, Trial(), 1)
        log = worker.log.read_text()
        for words in ["head (Linear) is not tracked", "table (Tensor) is not tracked", "a loader that train() reads is not tracked"]:
            self.assertEqual(log.count(words), 1, words)
        self.assertNotIn("criterion", log)


class SetupTest(CutsTest):
    workers_are_copies = True

    def test_values_are_set_in_proportion_to_what_a_group_had(self):
        worker = self.worker("odd.py:Groups")
        begin(worker, Trial({"lr": 0.5}))
        worker.setup({"lr": 0.25, "weight_decay": 0.5})
        values = worker.evaluate()
        self.assertEqual([values[f"lr{index}"] for index in range(3)], [0.025, 0.25, 0.25])
        self.assertEqual([values[f"weight_decay{index}"] for index in range(3)], [0.5, 0, 0.5])

    def test_a_loaded_optimizer_keeps_the_values_that_setup_gave_before(self):
        worker = self.worker("odd.py:Groups")
        trial = Trial({"lr": 0.5})
        begin(worker, trial)
        go_on(worker, trial, 1)
        worker.save(self.folder / "state")
        begin(worker, Trial({"lr": 0.5}, {0: {"lr": 0.25}}), 1, self.folder / "state")
        self.assertEqual(worker.evaluate()["lr1"], 0.25)
        begin(worker, trial, 1, self.folder / "state")
        self.assertEqual(worker.evaluate()["lr1"], 0.5)
