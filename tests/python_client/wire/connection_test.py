"""What is tried again, as which request, and what reaches the user as an exception. Against a master that says what a test wants."""

import contextlib
import os
import pathlib
import tempfile
import threading
import unittest
import unittest.mock

import espalier as es
import grpc
from espalier.client.connection import Connection, Watch
from espalier.client.protocol import messages
from fake_master import TOKEN, FakeMaster, Refusal

CODES = grpc.StatusCode
SOON = es.RetryPolicy(first_connection_patience=30, first_pause=0.001, longest_pause=0.001)
CREATED = messages.CreateStudyResponse(study_id=5)


class ConnectionTest(unittest.TestCase):
    def test_what_may_pass_is_tried_again_as_the_same_request(self):
        for code in (CODES.UNAVAILABLE, CODES.ABORTED, CODES.CANCELLED, CODES.DEADLINE_EXCEEDED):
            with self.subTest(code), FakeMaster(CreateStudy=[Refusal(code, "not now"), Refusal(code, "not now"), CREATED]) as master:
                connection = Connection(master.address, policy=SOON)
                self.assertEqual(connection.call("CreateStudy", request_id="once").study_id, 5)
                self.assertEqual([request.request_id for request in master.requests("CreateStudy")], ["once"] * 3)
                connection.close()

    def test_what_will_not_pass_is_raised_at_once_with_its_field(self):
        for code, kind in [
            (CODES.INVALID_ARGUMENT, es.InvalidArgument),
            (CODES.OUT_OF_RANGE, es.InvalidArgument),
            (CODES.UNAUTHENTICATED, es.Unauthenticated),
            (CODES.PERMISSION_DENIED, es.Unauthenticated),
            (CODES.NOT_FOUND, es.NotFound),
            (CODES.ALREADY_EXISTS, es.AlreadyExists),
            (CODES.FAILED_PRECONDITION, es.FailedPrecondition),
            (CODES.RESOURCE_EXHAUSTED, es.ResourceExhausted),
            (CODES.INTERNAL, es.Error),
            (CODES.UNKNOWN, es.Error),
        ]:
            with self.subTest(code), FakeMaster(GetStudy=Refusal(code, "that is wrong", "trials[3].lr")) as master:
                connection = Connection(master.address, policy=SOON)
                with self.assertRaises(es.Error) as raised:
                    connection.call("GetStudy", study_id=1)
                self.assertIs(type(raised.exception), kind)
                self.assertEqual(raised.exception.field, "trials[3].lr")
                self.assertIn("that is wrong", raised.exception.message)
                self.assertEqual(len(master.asked), 1)
                connection.close()

    def test_a_call_is_given_up_when_the_policys_patience_ends(self):
        with FakeMaster(GetStudy=Refusal(CODES.UNAVAILABLE, "loading")) as master:
            connection = Connection(master.address, policy=SOON._replace(call_patience=0.0))
            with self.assertRaisesRegex(es.Unavailable, r"does not answer \(loading\); start it again with: espalier up"):
                connection.call("GetStudy", study_id=1)
            self.assertEqual(len(master.asked), 1)
            connection.close()

    def test_a_call_outlives_a_server_that_goes_away_and_comes_back(self):
        with FakeMaster(GetStudy=messages.GetStudyResponse(study={"study_id": 1})) as master:
            connection = Connection(master.address, policy=SOON)
            master.stop()
            answers = []
            thread = threading.Thread(target=lambda: answers.append(connection.call("GetStudy", study_id=1)))
            thread.start()
            master.start()
            thread.join(60)
            self.assertEqual([answer.study.study_id for answer in answers], [1])
            connection.close()

    def test_a_server_of_another_version_is_said_to_be_one(self):
        with FakeMaster() as master:
            connection = Connection(master.address, policy=SOON)
            with self.assertRaisesRegex(es.WrongVersion, "does not know GetStudy: .* install the package that came with the server"):
                connection.call("GetStudy", study_id=1)
            connection.close()

    def test_what_a_server_says_that_it_does_not_know_of_a_request_reaches_the_user_as_it_says_it(self):
        refusal = Refusal(CODES.UNIMPLEMENTED, "the server does not know field 17 of a GetStudyRequest", "GetStudyRequest.17")
        with FakeMaster(GetStudy=refusal) as master:
            connection = Connection(master.address, policy=SOON)
            with self.assertRaisesRegex(es.WrongVersion, "does not know field 17 of a GetStudyRequest") as raised:
                connection.call("GetStudy", study_id=1)
            self.assertEqual(raised.exception.field, "GetStudyRequest.17")
            connection.close()

    def test_every_call_says_the_packages_version(self):
        with FakeMaster(GetStudy=messages.GetStudyResponse(study={"study_id": 1})) as master:
            connection = Connection(master.address, policy=SOON)
            connection.call("GetStudy", study_id=1)
            self.assertTrue(master.metadata[-1]["user-agent"].startswith(f"espalier/{es.__version__} "), master.metadata[-1])
            connection.close()

    def test_a_request_that_no_master_takes_is_not_sent(self):
        with FakeMaster(PutArchive=messages.PutArchiveResponse()) as master:
            connection = Connection(master.address, policy=SOON)
            with self.assertRaisesRegex(es.ResourceExhausted, "at most 33554432 bytes"):
                connection.call("PutArchive", archive=bytes(33 << 20))
            self.assertEqual(master.asked, [])
            connection.close()

    def test_a_stream_is_over_once_grpc_has_let_go_of_it(self):
        ended, happened = threading.Event(), []

        class Call:
            """Of which gRPC's thread lets go some time after its last response."""

            def add_callback(self, callback):
                self.callback = callback
                return True

            def __iter__(self):
                yield messages.WatchResponse()
                ended.set()

            def cancel(self):
                pass

        call = Call()
        watch = Watch(call)
        reading = threading.Thread(target=lambda: happened.append(f"{len(list(watch.responses()))} read"))
        reading.start()
        ended.wait(60)
        happened.append("let go")
        call.callback()
        reading.join(60)
        self.assertEqual(happened, ["let go", "1 read"])

    def test_pauses_double_up_to_the_longest(self):
        policy = es.RetryPolicy()
        self.assertEqual([policy.pause_before(attempt) for attempt in (0, 1, 2, 5, 6, 1000)], [0.05, 0.1, 0.2, 1.6, 2.0, 2.0])


class ConnectTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(unittest.mock.patch.dict(os.environ))
        for name in ("ESPALIER_TOKEN", "ESPALIER_DATA"):
            os.environ.pop(name, None)

    def test_the_address_is_the_argument_or_what_up_wrote_into_the_data_directory(self):
        with FakeMaster(ListStudies=messages.ListStudiesResponse()) as master:
            (self.folder / "address").write_text(master.address + "\n")
            homes = [{"address": master.address}, {"data": self.folder}, {"data": str(self.folder)}]
            for given in homes:
                with self.subTest(given), es.connect(policy=SOON, **given) as client:
                    self.assertEqual(list(client.studies()), [])
            os.environ["ESPALIER_DATA"] = str(self.folder)
            with es.connect(policy=SOON) as client:
                self.assertEqual(repr(client), f"<Client of {master.address}>")

    def test_who_calls_is_said_by_the_argument_the_environment_or_the_token_beside_the_socket(self):
        given, of_environment = "espalier_" + "a" * 64, "espalier_" + "b" * 64
        with FakeMaster(ListStudies=messages.ListStudiesResponse()) as master:
            for token, environment, expected in [(None, None, TOKEN), (None, of_environment, of_environment),
                                                 (f" {given}\n", of_environment, given)]:  # fmt: skip
                with self.subTest(expected):
                    os.environ.pop("ESPALIER_TOKEN", None)
                    if environment:
                        os.environ["ESPALIER_TOKEN"] = environment
                    with es.connect(master.address, token, policy=SOON) as client:
                        list(client.studies())
                    self.assertEqual(master.metadata[-1]["authorization"], f"Bearer {expected}")

    def test_a_server_that_is_not_there_and_a_token_that_is_none_say_what_to_do(self):
        nobody = es.RetryPolicy(first_connection_patience=0.2)
        for make, kind, expected in [
            (lambda: es.connect(data=self.folder), es.Unavailable, f"{self.folder}/address; start one with: espalier up, or es.up()"),
            (lambda: es.connect(f"unix:{self.folder}/nobody", policy=nobody), es.Unavailable, "no server answers at unix:"),
            (lambda: es.connect("localhost:1", token="secret"), es.Unauthenticated, "expected espalier_ and 64 hexadecimal digits"),
        ]:
            with self.subTest(expected), self.assertRaises(kind) as raised:
                make()
            self.assertIn(expected, str(raised.exception))
            self.assertNotIn("secret", str(raised.exception))

    def test_a_file_that_connects_while_it_is_imported_as_a_trainer_is_told_so(self):
        main = unittest.mock.Mock(__spec__=unittest.mock.Mock())
        main.__spec__.name = "espalier.worker"
        with unittest.mock.patch.dict("sys.modules", __main__=main):
            with self.assertRaisesRegex(es.FailedPrecondition, 'put what drives studies under if __name__ == "__main__"'):
                es.connect()

    def test_a_closed_client_says_so_to_who_waits(self):
        released = threading.Event()
        with contextlib.closing(FakeStudy(released)) as study:
            future = study.submit()
            study.client.close()
            with self.assertRaisesRegex(es.Aborted, "its client was closed"):
                future.result(60)
            released.set()


class FakeStudy:
    """A client with a study of which no event comes."""

    def __init__(self, released):
        from fake_master import study_answers, until_released

        self.master = FakeMaster(**study_answers(Watch=lambda request, context: [until_released(released)])).__enter__()
        self.client = es.connect(self.master.address, policy=SOON)

    def submit(self):
        return self.client.study("one", trainer="mlp", data="digits", goal="max").submit({"lr": 0.1}, steps=1)

    def close(self):
        self.master.__exit__()


if __name__ == "__main__":
    unittest.main()
