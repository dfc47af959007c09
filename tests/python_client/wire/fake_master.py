"""A master that says what a test wants: answers by the call's name, and keeps what was asked. It listens on a Unix socket of its own, or
with a certificate on a loopback port."""

import concurrent.futures
import pathlib
import tempfile
import threading

import grpc
from espalier.client.protocol import messages, methods

TOKEN = "espalier_" + "5" * 64


class Refusal(Exception):
    """What a call is answered with instead."""

    def __init__(self, code, message="", field=""):
        super().__init__(message)
        self.code, self.message, self.field = code, message, field


class FakeMaster(grpc.GenericRpcHandler):
    """`answers`: call -> a message, or an exception, or a list of these for one call after the other, or a function of (request, context)
    that gives one. A stream's is a list of responses for each attempt, perhaps with an exception at its end. `credentials`: what gRPC is to
    listen with; left out: without encryption."""

    def __init__(self, credentials=None, **answers):
        self.credentials = credentials
        self.answers = answers
        self.asked = []  # (call, request)
        self.metadata = []
        self._lock = threading.Lock()
        self._methods = {method.path: (name, method) for name, method in methods().items()}
        self._folder = tempfile.TemporaryDirectory(prefix="espalier")
        self.address = f"unix:{self._folder.name}/master.sock"
        (pathlib.Path(self._folder.name) / "token").write_text(TOKEN + "\n")
        self._server = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()
        self._folder.cleanup()

    def start(self):
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(8), handlers=[self])
        if self.credentials is None:
            self._server.add_insecure_port(self.address)
        else:
            self.address = f"127.0.0.1:{self._server.add_secure_port('127.0.0.1:0', self.credentials)}"
        self._server.start()

    def stop(self):
        self._server.stop(None).wait()

    def requests(self, call):
        return [request for name, request in self.asked if name == call]

    def service(self, details):
        name, method = self._methods.get(details.method, (None, None))
        if name not in self.answers:
            return None  # UNIMPLEMENTED
        make = grpc.unary_stream_rpc_method_handler if method.is_stream else grpc.unary_unary_rpc_method_handler
        behaviour = self._stream if method.is_stream else self._unary
        return make(lambda request, context: behaviour(name, request, context), method.request.FromString, method.response.SerializeToString)

    def _unary(self, name, request, context):
        return self._given(self._next(name, request, context), context)

    def _stream(self, name, request, context):
        for each in self._next(name, request, context):
            yield self._given(each(request, context) if callable(each) else each, context)

    def _next(self, name, request, context):
        with self._lock:
            self.asked.append((name, request))
            self.metadata.append(dict(context.invocation_metadata()))
            answer = self.answers[name]
            if isinstance(answer, list):
                answer = answer.pop(0) if len(answer) > 1 else answer[0]
        return answer(request, context) if callable(answer) else answer

    @staticmethod
    def _given(answer, context):
        if isinstance(answer, Refusal):
            detail = messages.ErrorDetail(field=answer.field).SerializeToString()
            context.set_trailing_metadata((("grpc-status-details-bin", detail),))
            context.abort(answer.code, answer.message)
        return answer


def settled(number, claim_id, trial_id=1, step=1, state=1, metrics=None, message=""):
    """The event that a claim is done."""
    claim = {"claim_id": claim_id, "trial_id": trial_id, "step": step, "state": state, "metrics": metrics or {"acc": float(claim_id)},
             "message": message}  # fmt: skip
    return messages.WatchResponse(events=[{"number": number, "claim_settled": claim, "happened_at": {"seconds": 1000 + number}}])


def until_released(released):
    """In a stream: no response before `released`, a threading.Event, is set."""

    def wait(request, context):
        released.wait(60)
        return messages.WatchResponse()

    return wait


def finished(number):
    return messages.WatchResponse(events=[{"number": number, "study_finished": {}}])


def study_answers(**more):
    """What a study needs that was created by `es.connect(...).study(...)`; trials and claims count up as they are submitted."""
    state = {"trials": 0, "claims": 0}

    def submit(request, context):
        trials = list(range(state["trials"] + 1, state["trials"] + 1 + len(request.new_trials)))
        count = sum(1 + len(each.more_steps) for each in request.new_trials) + len(request.claims)
        claims = list(range(state["claims"] + 1, state["claims"] + 1 + count))
        state["trials"] += len(trials)
        state["claims"] += count
        return messages.SubmitResponse(trial_ids=trials, claim_ids=claims)

    trainer = messages.TrainerDescription(name="mlp", data="digits", metrics=["acc"])
    return {"ListTrainers": messages.ListTrainersResponse(trainers=[trainer]), "CreateStudy": messages.CreateStudyResponse(study_id=5),
            "Submit": submit, **more}  # fmt: skip
