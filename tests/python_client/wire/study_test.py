"""Futures, and the one stream of events that settles them. Against a master that says what a test wants."""

import asyncio
import concurrent.futures
import contextlib
import io
import threading
import unittest

import espalier as es
import grpc
from connection_test import SOON
from espalier.client.protocol import messages
from fake_master import FakeMaster, Refusal, finished, settled, study_answers, until_released

CODES = grpc.StatusCode
GONE = Refusal(CODES.UNAVAILABLE, "gone")


class StudyTest(unittest.TestCase):
    def master(self, watch, **more):
        """A client of a fake master; `watch`: the responses of each attempt to read the study's events."""
        self.fake = self.enterContext(FakeMaster(**study_answers(Watch=watch, **more)))
        return self.enterContext(es.connect(self.fake.address, policy=SOON))

    @staticmethod
    def study(client, **more):
        return client.study("one", trainer="mlp", data="digits", goal="max", space={"lr": [0.1, 0.2, 0.3]}, steps=4, **more)

    def test_a_study_is_created_with_its_first_trials_and_once(self):
        client = self.master([[settled(1, 1), settled(2, 2), finished(3)]])
        study = self.study(client)
        self.assertEqual(self.fake.asked, [])
        self.assertEqual(repr(study), "<Study one, not created yet>")
        with self.assertRaisesRegex(es.FailedPrecondition, "not created yet: submit trials, or call create"):
            study.id
        study.submit({"lr": 0.1})
        study.submit({"lr": es.Exponential(0.1, 0.9)}, steps=2, horizon=9)
        self.assertEqual([call for call, _ in self.fake.asked if call != "Watch"], ["ListTrainers", "CreateStudy", "Submit", "Submit"])
        asked = self.fake.requests("CreateStudy")[0].study
        self.assertEqual((asked.name, asked.trainer, asked.data, asked.metric, asked.goal, asked.step.epoch), ("one", "mlp", "digits", "acc", 2, True))
        self.assertEqual(asked.definition, '{"check":"beside","data":"digits","hyper_parameters":{"lr":[0.1,0.2,0.3]},"keep":"best",'
                         '"metric":{"goal":"max","name":"acc"},"share":"team","step":"epoch","study":"one","trainer":"mlp"}')  # fmt: skip
        first, second = (request.new_trials[0] for request in self.fake.requests("Submit"))
        self.assertEqual((dict(first.sequences), first.steps, first.horizon_steps), ({"lr": "0.1"}, 4, 4))
        self.assertEqual((dict(second.sequences), second.steps, second.horizon_steps), ({"lr": "Exponential(0.1, 0.9)"}, 2, 9))

    def test_one_trial_is_evaluated_at_one_step_and_asked_for_no_further(self):
        study = self.study(self.master([[settled(1, 1), settled(2, 2, state=2, message="it broke"), finished(3)]]))
        self.assertEqual(study.eval({"lr": 0.1}, 7).claim_id, 1)
        [asked] = self.fake.requests("Submit")[0].new_trials
        self.assertEqual((dict(asked.sequences), asked.steps, asked.horizon_steps), ({"lr": "0.1"}, 7, 7))
        with self.assertRaisesRegex(es.TrialFailed, "it broke"):
            study.eval({"lr": 0.2}, 7, timeout=60)

    def test_events_that_the_package_does_not_know_end_what_waits_for_them(self):
        unknown = messages.WatchResponse(events=[{"number": 2}])
        for watch, what in (([[settled(1, 1), unknown]], "event 2"), ([[settled(1, 1), settled(2, 2, state=9)]], "the value 9 of state in a ClaimSettled")):
            with self.subTest(what):
                first, second, _ = self.study(self.master(watch)).submit()
                self.assertEqual(first.result(60).claim_id, 1)
                with self.assertRaisesRegex(es.WrongVersion, f"does not know: {what}; the server is newer"):
                    second.result(60)

    def test_a_broken_stream_is_read_on_from_the_next_event(self):
        client = self.master([[settled(1, 1), GONE], [GONE], [], [settled(1, 1), settled(2, 3), settled(3, 2), finished(4)]])
        study = self.study(client)
        futures = study.submit()
        self.assertEqual([each.claim_id for each in es.wait_all(futures, 60)], [1, 2, 3])
        self.assertTrue(study.wait(60))
        self.assertEqual([(request.from_event, request.previous_happened_at.seconds) for request in self.fake.requests("Watch")],
                         [(1, 0), (2, 1001), (2, 1001), (2, 1001)])  # fmt: skip
        self.assertEqual([future.order for future in futures], [1, 3, 2])

    def test_a_stream_that_will_not_come_back_tells_everybody_who_waits(self):
        released = threading.Event()
        client = self.master([[until_released(released), Refusal(CODES.NOT_FOUND, "no study 5")]])
        study = self.study(client)
        futures = study.submit()
        released.set()
        for future in futures:
            with self.assertRaisesRegex(es.NotFound, "no study 5"):
                future.result(60)
        with self.assertRaises(es.NotFound):
            study.wait(60)

    def test_a_server_that_stays_away_is_given_up_when_the_policys_patience_ends(self):
        released = threading.Event()
        self.fake = self.enterContext(FakeMaster(**study_answers(Watch=[[until_released(released), GONE], [GONE]])))
        client = self.enterContext(es.connect(self.fake.address, policy=SOON._replace(call_patience=0.05)))
        future = self.study(client).submit({"lr": 0.1})
        released.set()
        with self.assertRaisesRegex(es.Unavailable, r"the server does not answer \(gone\); start it again with: espalier up"):
            future.result(60)

    def test_a_server_that_is_away_and_comes_back_is_said_once_to_be_waited_for(self):
        released, said = threading.Event(), io.StringIO()
        client = self.master([[until_released(released), GONE], [GONE], [settled(1, 1), finished(2)]])
        study = self.study(client)
        with contextlib.redirect_stderr(said):
            future = study.submit({"lr": 0.1})
            released.set()
            self.assertEqual(future.result(60).claim_id, 1)
        self.assertEqual(said.getvalue(), f"espalier: the server at {self.fake.address} does not answer, and is waited for; "
                         "start it again with: espalier up\n")  # fmt: skip

    def test_one_stream_serves_all_futures_of_a_study_however_often_it_is_opened(self):
        summary = messages.GetStudyResponse(study={"study_id": 5})
        client = self.master([[settled(1, 1), settled(2, 2), settled(3, 3), finished(4)]], GetStudy=summary)
        es.wait_all(self.study(client).submit(), 60)
        self.assertTrue(client.open_study(5).wait(60))
        self.assertEqual(len(self.fake.requests("Watch")), 1)

    def test_the_one_that_was_settled_first_is_given_first_whatever_the_order_of_the_futures(self):
        client = self.master([[settled(1, 3), settled(2, 1), settled(3, 2), finished(4)]])
        study = self.study(client)
        futures = study.submit()
        study.wait(60)
        self.assertIs(es.wait_any(futures), futures[2])
        self.assertEqual([future.order for future in es.as_completed(futures)], [1, 2, 3])
        self.assertEqual(concurrent.futures.wait(futures).not_done, set())
        called = []
        futures[0].add_done_callback(called.append)
        self.assertEqual(called, [futures[0]])

    def test_waiting_may_be_given_up_and_nothing_is_withdrawn(self):
        released = threading.Event()
        client = self.master([[until_released(released), settled(1, 1), settled(2, 2), settled(3, 3), finished(4)]])
        futures = self.study(client).submit()
        for wait in (lambda: futures[0].result(0.01), lambda: es.wait_any(futures, 0.01), lambda: es.wait_all(futures, 0.01),
                     lambda: next(iter(es.as_completed(futures, 0.01)))):  # fmt: skip
            with self.assertRaises(TimeoutError):
                wait()
        self.assertFalse(futures[0].done())
        released.set()
        self.assertEqual(futures[0].result(60).metrics, {"acc": 1.0})
        with self.assertRaisesRegex(es.InvalidArgument, "at least one future"):
            es.wait_any([])

    def test_coroutines_await_futures_and_take_them_as_they_come(self):
        released = threading.Event()
        client = self.master([[settled(1, 2), until_released(released), settled(2, 1), settled(3, 3, state=2, message="NaN"), finished(4)]])
        futures = self.study(client).submit()

        wrong = []

        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: wrong.append(context))
            self.assertEqual((await futures[1])["acc"], 2.0)
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(asyncio.gather(futures[0]), 0.01)
            released.set()
            orders = [future.order async for future in es.as_completed(futures, 60)]
            with self.assertRaisesRegex(es.TrialFailed, "NaN"):
                await futures[2]
            return orders

        self.assertEqual((asyncio.run(main()), wrong), ([1, 2, 3], []))
        self.assertEqual(self.fake.requests("Submit")[-1].cancel_trial_ids, [])  # who gave up waiting withdrew nothing

    def test_what_came_to_nothing_is_raised_with_its_reason(self):
        client = self.master([[settled(1, 1, 7, 4, 2, message="out of memory"), settled(2, 2, 8, 4, 3), settled(3, 3), finished(4)]])
        failed, cancelled, done = self.study(client).submit()
        with self.assertRaisesRegex(es.TrialFailed, "trial 7 has no result at step 4: out of memory") as raised:
            failed.result(60)
        self.assertEqual(raised.exception.evaluation.state, "failed")
        self.assertIsInstance(failed.exception(60), es.TrialFailed)
        with self.assertRaisesRegex(es.TrialCancelled, "trial 8 .* withdrawn"):
            cancelled.result(60)
        self.assertTrue(cancelled.cancelled())
        self.assertFalse(failed.cancelled() or done.cancelled())
        self.assertIsNone(done.exception(60))
        self.assertEqual([each.state for each in es.wait_all([failed, cancelled, done])], ["failed", "cancelled", "done"])
        with self.assertRaisesRegex(KeyError, "no metric loss; trial 1 at step 1 has acc"):
            done.result()["loss"]

    def test_cancelling_a_future_withdraws_its_trial(self):
        released = threading.Event()
        client = self.master([[until_released(released), settled(1, 1, state=3), settled(2, 2), settled(3, 3), finished(4)]])
        futures = self.study(client).submit()
        self.assertTrue(futures[0].cancel())
        self.assertEqual(list(self.fake.requests("Submit")[-1].cancel_trial_ids), [1])
        released.set()
        self.assertEqual(futures[0].evaluation(60).state, "cancelled")
        self.assertFalse(futures[0].cancel())

    def test_a_large_batch_is_cut_and_its_errors_count_from_its_beginning(self):
        refusal = Refusal(CODES.INVALID_ARGUMENT, "not whole", "trials[1].bs")
        submit = study_answers()["Submit"]
        client = self.master([[]], Submit=[submit, submit, submit, refusal])
        study = self.study(client)
        trial = {"lr": es.Step(0.1, 1, 0.9)}
        futures = study.submit([trial] * 5, steps=2000)
        self.assertEqual(len(futures), 5)
        requests = self.fake.requests("Submit")
        self.assertEqual([len(request.new_trials) for request in requests], [2, 2, 1])
        self.assertEqual({request.request_id[32:] for request in requests}, {"/0", "/1", "/2"})
        with self.assertRaises(es.InvalidArgument) as raised:
            study.submit([trial] * 3, steps=1)
        self.assertEqual(raised.exception.field, "trials[1].bs")

    def test_mistakes_are_told_before_anything_is_asked(self):
        client = self.master([[]])
        study = self.study(client)
        for make, field in [
            (lambda: client.study("", trainer="mlp"), "name"),
            (lambda: client.study("a" * 201, trainer="mlp"), "name"),
            (lambda: client.study("one", trainer=3), "trainer"),
            (lambda: client.study("one", trainer="nowhere.py:Digits"), "trainer"),
            (lambda: client.study("one", trainer="mlp", python="/usr/bin/python3"), "python"),
            (lambda: client.study("one", trainer="mlp", environment={"A": "1"}), "environment"),
            (lambda: client.study("one", trainer="mlp", step="200"), "step"),
            (lambda: client.study("one", trainer="mlp", step=0), "step"),
            (lambda: client.study("one", trainer="mlp", share="everybody"), "share"),
            (lambda: client.study("one", trainer="mlp", keep="some"), "keep"),
            (lambda: client.study("one", trainer="mlp", check="later"), "check"),
            (lambda: client.study("one", trainer="mlp", evaluate_every=-1), "evaluate_every"),
            (lambda: client.study("one", trainer="mlp", space=[0.1]), "space"),
            (lambda: study.submit({"lr": es.uniform(0, 1)}), "trials[0].lr"),
            (lambda: study.submit([{"lr": 0.1}, {"lr": "Cosine(0.1)"}]), "trials[1].lr"),
            (lambda: study.submit({"lr": 0.1}, steps=0), "steps"),
            (lambda: study.submit({"lr": 0.1}, steps=5, horizon=4), "horizon"),
            (lambda: client.study("one", trainer="mlp").submit({"lr": 0.1}), "steps"),
            (lambda: client.study("one", trainer="mlp", steps=1).submit(), "trials"),
            (lambda: study.ask_tell(at=[2, 1]), "at"),
            (lambda: study.drive(None, at_once=0), "at_once"),
            (lambda: client.open_study(0), "study"),
            (lambda: next(client.studies(goal="most")), "goal"),
        ]:
            with self.subTest(field), self.assertRaises(es.InvalidArgument) as raised:
                make()
            self.assertEqual(raised.exception.field, field)
        self.assertEqual(self.fake.asked, [])

    def test_what_only_a_server_knows_is_told_by_the_arguments_name(self):
        refusals = [Refusal(CODES.INVALID_ARGUMENT, "no metric f1", "metric.name"), Refusal(CODES.ALREADY_EXISTS, "other content", "name")]
        client = self.master([[]], CreateStudy=refusals)
        with self.assertRaises(es.InvalidArgument) as raised:
            self.study(client, metric="f1").create()
        self.assertEqual(raised.exception.field, "metric")
        with self.assertRaisesRegex(es.AlreadyExists, "other content"):
            self.study(client).create()
        with self.assertRaisesRegex(es.InvalidArgument, "goal: expected max or min, got None"):
            client.study("one", trainer="mlp", data="digits").create()

    def test_metrics_of_one_trial_are_told_in_step_order_whichever_is_measured_first(self):
        events = [settled(1, 2, 1, 2), settled(2, 4, 2, 2), settled(3, 1, 1, 1), settled(4, 3, 2, 1, 2, message="lost"), finished(5)]
        client = self.master([events])
        session = self.study(client).ask_tell(at=[1, 2])
        session.submit_all([{"lr": 0.1}, {"lr": 0.2}])
        told = [(each.proposal["lr"], each.evaluation.step, each.evaluation.state, each.is_last) for each in session]
        self.assertEqual(told, [(0.1, 1, "done", False), (0.1, 2, "done", True), (0.2, 1, "failed", True)])
        self.assertEqual(session.open_count, 0)

    def test_nothing_is_told_of_a_trial_once_it_is_stopped(self):
        client = self.master([[settled(1, 2, 1, 2), settled(2, 1, 1, 1), settled(3, 3, 2, 1), settled(4, 4, 2, 2), finished(5)]])
        session = self.study(client).ask_tell(at=[1, 2])
        first, _ = session.submit_all([{"lr": 0.1}, {"lr": 0.2}])
        told = []
        for each in session:
            told.append((each.trial.id, each.evaluation.step))
            session.stop(first)
        self.assertEqual(told, [(1, 1), (2, 1), (2, 2)])
        self.assertEqual([list(each.cancel_trial_ids) for each in self.fake.requests("Submit")], [[], [1]])

    def test_a_tuner_that_says_no_stops_its_trial(self):
        client = self.master([[settled(1, 3, 1, 3), settled(2, 2, 1, 2), settled(3, 1, 1, 1), finished(4)]])

        class Impatient:
            told = []

            def ask(self):
                return {"lr": 0.1} if not self.told else None

            def tell(self, proposal, evaluation):
                self.told.append(evaluation.step)
                return evaluation.step < 2

        self.study(client).drive(Impatient(), at=[1, 2, 3], at_once=1)
        self.assertEqual(Impatient.told, [1, 2])
        first, stop, finish = self.fake.requests("Submit")
        self.assertEqual((first.new_trials[0].steps, first.new_trials[0].horizon_steps), (1, 3))
        self.assertEqual(list(first.new_trials[0].more_steps), [2, 3])
        self.assertEqual((list(stop.cancel_trial_ids), finish.finish), ([1], True))


if __name__ == "__main__":
    unittest.main()
