"""es.script: a program that can only be started, one run a step."""

import itertools
import os
import tempfile

from cuts import CutsTest, Trial, begin, go_on
from fake_node_manager import Failed

import espalier as es
from espalier import identity
from espalier.failure import TrainerError
from espalier.script import FOLDER

TRIAL = Trial(changes={2: {"lr": 0.5}, 4: {"lr": 0.05}})


class ScriptTest(CutsTest):
    def fails_with(self, message, trainer="Old", **environment):
        worker = self.worker(f"started.py:{trainer}", environment)
        with self.assertRaisesRegex(Failed, message):
            begin(worker, TRIAL)
            go_on(worker, TRIAL, 1)

    def test_pieces_in_new_processes_are_the_straight_training(self):
        straight = self.straight(self.worker("started.py:Old"), TRIAL)
        self.assertLess(straight[2]["slope_error"], 1.5)
        self.assertEqual(self.cut((self.worker("started.py:Old") for _ in itertools.count()), TRIAL, (1, 3, 4)), straight)

    def test_it_is_called_as_its_variable_and_without_safetensors_sharing_stops_at_the_study(self):
        described = {name: self.worker(f"started.py:{name}").describe()["trainers"][0] for name in ("Old", "Strict")}
        self.assertEqual([each["name"] for each in described.values()], ["Old", "Strict"])
        self.assertEqual([each["dataDigest"] == identity.UNKNOWN_DATA for each in described.values()], [True, False])
        with self.assertRaisesRegex(TrainerError, "writes_safetensors=True"):
            es.script("true", data="1")

    def test_what_the_program_does_wrong_is_said_with_its_last_words(self):
        self.fails_with("ended with 1:\na line of its log\nthe program fails as told", FAULT="status")
        self.fails_with("wrote no file .*, as --save says", FAULT="silence")
        self.fails_with("is said to write safetensors, but", trainer="Strict")
        self.fails_with("no_such_program cannot be started", trainer="Nowhere")

    def test_what_is_no_metric_is_in_the_log(self):
        worker = self.worker("started.py:Old")
        begin(worker, TRIAL)
        self.assertEqual(sorted(go_on(worker, TRIAL, 1)[0]), ["loss", "samples", "slope_error"])
        self.assertEqual(worker.log.read_text(), "a line of its log\n" * 2)

    def test_folders_are_removed_and_those_of_workers_that_were_killed_by_the_next(self):
        with tempfile.TemporaryDirectory() as folder:
            ours = lambda: [each for each in os.listdir(folder) if each.startswith(FOLDER)]  # noqa: E731
            killed, other = (self.worker("started.py:Old", {"TMPDIR": folder}) for _ in range(2))
            begin(killed, TRIAL)
            killed.process.kill()
            killed.process.wait()
            self.assertEqual(len(ours()), 1)
            begin(other, TRIAL)
            [left] = ours()
            self.assertTrue(left.startswith(f"{FOLDER}{other.process.pid}-"))
            other.stop()
            self.assertEqual(ours(), [])
