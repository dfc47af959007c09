"""The loop form: a script from top to bottom, led step by step."""

import itertools

from cuts import CutsTest, Trial, begin, go_on
from fake_node_manager import Failed

TRIAL = Trial(changes={2: {"bs": 5, "lr": 0.02}, 4: {"bs": 16}})


class LoopTest(CutsTest):
    workers_are_copies = True

    def test_the_loop_form_trains_what_the_class_form_does(self):
        loop, _, loop_evaluation = self.straight(self.worker("flat.py:main"), TRIAL)
        steps = [metrics.pop("step") for metrics in loop]
        self.assertEqual(steps, [1, 2, 3, 4, 5])
        metrics, _, evaluation = self.straight(self.worker("small.py:Small"), TRIAL)
        self.assertEqual((loop, loop_evaluation), (metrics, evaluation))

    def test_the_loop_form_can_be_cut(self):
        workers = [self.worker("flat.py:main") for _ in range(2)]
        self.assertEqual(self.cut(itertools.cycle(workers), TRIAL, (1, 2, 4)), self.straight(workers[0], TRIAL))

    def test_loader_workers_change_nothing_and_are_left_behind_without_a_word(self):
        worker = self.worker("flat.py:main")
        straight = self.straight(worker, TRIAL)
        for _ in range(2):
            with_two = self.straight(worker, Trial({"workers": 2}, TRIAL.changes))
            self.assertEqual((with_two[0], with_two[2]), (straight[0], straight[2]))
        self.assertEqual(worker.stop(), 0)
        self.assertNotIn("Error", worker.log.read_text())

    def test_the_trainer_is_called_as_the_file(self):
        [trainer] = self.worker("flat.py:main").describe()["trainers"]
        self.assertEqual(trainer["name"], "flat")

    def test_a_failed_evaluation_leaves_the_loop_where_it_was(self):
        worker = self.worker("flat.py:main")
        straight = self.straight(worker, TRIAL)
        begin(worker, TRIAL)
        metrics = go_on(worker, TRIAL, 2)
        worker.setup({"failure": "evaluate"})
        with self.assertRaisesRegex(Failed, "no such measure") as raised:
            worker.evaluate()
        self.assertTrue(raised.exception.state_intact)
        worker.setup({"failure": ""})
        self.assertEqual(metrics + go_on(worker, TRIAL, 5), straight[0])

    def test_a_loop_that_is_left_or_reports_nothing_fails_and_the_next_training_begins_anew(self):
        worker = self.worker("flat.py:main")
        straight = self.straight(worker, TRIAL)
        for failure, message in [("break", r"^main\(\) has ended"), ("silence", r"reported nothing: es\.report"),
                                 ("enough", r"^train\(\) raised Finished$")]:  # fmt: skip
            with self.subTest(failure):
                begin(worker, Trial({"failure": failure}))
                with self.assertRaisesRegex(Failed, message) as raised:
                    worker.train()
                self.assertEqual((raised.exception.kind, raised.exception.state_intact), ("FINISHED" if failure == "enough" else "TRAINER", False))
                self.assertEqual(self.straight(worker, TRIAL), straight)
