"""Answers the trainer protocol's requests (docs/trainer_protocol.md), in order, for one trainer."""

import contextlib
import ctypes
import functools
import gc
import os
import sys
import time

from espalier import device, failure, hyper_parameters, identity, peak_memory, progress, safetensors_file
from espalier.failure import Finished, RequestError
from espalier.save_thread import SaveThread
from espalier.trainer import StepMeaning
from espalier.training import Training

PROTOCOL_VERSION = 1


class Session:
    """`watched`: of each training (training.py). `environment`: as identity.describe takes it. REQUIRES: the process is set up as `device.set_up` does it."""

    def __init__(self, connection, trainer_class, watched=False, environment=None):
        self._connection = connection
        self._trainer_class = trainer_class
        self._watched = watched
        self._declared = hyper_parameters.all_of(trainer_class)
        self._packages = identity.packages_of(trainer_class)
        self._code, self._data, self._evaluation = identity.describe(trainer_class, environment, self._packages)
        self._hears_heartbeats = False  # the node manager
        self._training = None
        self._has_trained = False  # a step, since Init
        self._step_log = None  # (file descriptor, run's id)
        self._saves = SaveThread()
        self._spare = {}  # the last state that was written: memory for the next

    def serve(self):
        """Until the socket closes. Raises connection.BrokenFrame. States that are being written are written first."""
        try:
            while (request := self._connection.read()) is not None:
                self._handle(request)
        finally:
            self._forget()
            self._saves.finish()

    def _handle(self, request):
        handlers = {"describe": self._describe, "init": self._init, "proceed": self._proceed, "setup": self._setup, "train": self._train,
                    "evaluate": self._evaluate_now, "save": self._save, "load": self._load}  # fmt: skip
        request_id = whole(request.get("id"))
        kind = next((kind for kind in handlers if request.get(kind) is not None), None)
        if self._hears_heartbeats:
            progress.listen(lambda: self._connection.write({"id": request_id, "heartbeat": {}}))
        try:
            if kind is None:
                raise RequestError("the request is of no known kind")
            if self._training is None and kind not in ("describe", "init"):
                raise RequestError("a request came before init")
            reply = handlers[kind](request[kind], request_id)
        except BaseException as error:  # a trainer may also call exit
            intact = kind in ("evaluate", "save") and self._training is not None
            if not intact:
                self._forget()
            reply = {"failure": failure.reply_of(error, state_intact=intact)}
            say(reply["failure"]["message"])
        progress.listen(None)
        flush_output()
        if reply is not None:
            self._connection.write({"id": request_id, **reply})

    def _describe(self, request, _):
        self._hears_heartbeats = "heartbeat" in request.get("capabilities", ())
        declared = [
            {"name": name, "type": hyper_parameters.WIRE_TYPES[each.type][0], "defaultValue": hyper_parameters.to_wire(each.default),
             "initial": each.initial} for name, each in self._declared.items()]  # fmt: skip
        trainer = {"name": self._trainer_class.__name__, "codeDigest": self._code, "dataDigest": self._data,
                   "evaluationDigest": self._evaluation, "hyperParameters": declared,
                   "metrics": sorted(self._trainer_class.metrics)}  # fmt: skip
        capabilities = ["proceed", "reload"] if self._trainer_class.reload else ["proceed"]
        return {"describe": {"protocolVersion": PROTOCOL_VERSION, "deviceKind": device.kind(), "trainers": [trainer],
                             "capabilities": capabilities}}  # fmt: skip

    def _init(self, request, _):
        self._forget()
        name = self._trainer_class.__name__
        if request.get("trainer") != name or request.get("data"):
            raise RequestError(f"there is no trainer {request.get('trainer')!r} for the data {request.get('data') or ''!r}; there is {name!r}")
        values = hyper_parameters.from_wire(request.get("values"), self._declared)
        self._check_all_there(values, self._declared)
        meaning = step_meaning(request.get("step") or {})
        self._begin_run(request)
        initial = {each: value for each, value in values.items() if self._declared[each].initial}
        own = {"trainer": name, "code": self._code, "data": self._data, "updates": meaning.updates, "initial values": initial}
        self._training = Training(self._trainer_class(meaning), own, self._sequences(), self._watched)
        self._training.init(values)
        return {"done": {}}

    def _proceed(self, request, _):
        """The training goes on for another run."""
        self._check_set_up("proceed")
        self._begin_run(request)
        return {"done": {}}

    def _setup(self, request, _):
        values = hyper_parameters.from_wire(request.get("values"), self._declared)
        if fixed := sorted(values.keys() - self._sequences()):
            raise RequestError(f"{fixed[0]}: is fixed at step 0, given as a sequence")
        if not self._training.is_set_up:
            self._check_all_there(values, self._sequences())
        self._training.setup(values)
        return {"done": {}}

    def _train(self, request, _):
        self._check_set_up("train")
        step = whole(request.get("step"))
        if step != self._training.step + 1:
            raise RequestError(f"train to step {step} came at step {self._training.step}")
        begin = time.monotonic()
        try:
            metrics = self._training.train()
        except Finished as finished:
            return self._finish(finished)
        seconds = time.monotonic() - begin
        if not self._has_trained:
            self._packages.check()
            self._has_trained = True
        self._log_step(step, seconds)
        peaks = {"peakMemoryBytes": peak_memory.of_process(), "peakDeviceMemoryBytes": peak_memory.of_device()}
        return {"train": {"metrics": metrics, "seconds": seconds, **peaks}}

    def _finish(self, finished):
        """The training is over. It stands where it stood, unless its code is a function that has ended."""
        intact = self._training.stands_when_finished()
        if not intact:
            self._forget()
        message = str(finished) or "train() raised Finished"
        return {"failure": {"kind": "FAILURE_KIND_FINISHED", "message": message[-failure.MESSAGE_CHARACTERS_MAX:], "stateIntact": intact}}

    def _evaluate_now(self, _, __):
        self._check_set_up("evaluate")
        begin = time.monotonic()
        metrics = self._training.evaluate()
        self._packages.warn("evaluate()")
        return {"evaluate": {"metrics": metrics, "seconds": time.monotonic() - begin}}

    def _save(self, request, request_id):
        """Copies the state; the reply comes when the other thread has written it."""
        self._check_set_up("save")
        begin = time.monotonic()
        self._saves.await_room()
        step = whole((request.get("identity") or {}).get("step"))
        if step != self._training.step:
            raise RequestError(f"save of step {step} came at step {self._training.step}")
        spare, self._spare = self._spare, {}
        arrays = self._training.save(spare)
        byte_count = sum(each.nbytes for each in arrays.values())
        write = functools.partial(self._write, request, request_id, arrays, begin, time.monotonic() - begin)
        self._saves.add(byte_count, write)

    def _load(self, request, _):
        self._check_set_up("load")
        self._training.load(safetensors_file.read(str(request.get("path"))), bool(request.get("ofOtherCode")))
        return {"done": {}}

    def _write(self, request, request_id, arrays, begin, blocking_seconds):
        try:
            sha256, byte_count = safetensors_file.write(str(request.get("path")), arrays, request["identity"])
            reply = {"save": {"stateSha256": sha256, "bytes": byte_count, "blockingSeconds": blocking_seconds,
                              "seconds": time.monotonic() - begin}}  # fmt: skip
        except Exception as error:
            reply = {"failure": failure.reply_of(error, state_intact=True)}
        self._spare = arrays
        self._connection.write({"id": request_id, **reply})

    def _forget(self):
        if self._training is not None:
            self._training.close()
        self._training = None
        self._has_trained = False
        self._spare = {}
        gc.collect()  # models and optimizers refer to themselves, and would lie beside the next ones
        with contextlib.suppress(AttributeError):  # what glibc keeps would count as the next training's; other C libraries keep little
            ctypes.CDLL(None).malloc_trim(0)

    def _sequences(self):
        return [name for name, each in self._declared.items() if not each.initial]

    def _check_all_there(self, values, names):
        if missing := [name for name in names if name not in values]:
            raise RequestError(f"{missing[0]}: the value is missing")

    def _check_set_up(self, request):
        if not self._training.is_set_up:
            raise RequestError(f"{request} came before setup")

    def _log_step(self, step, seconds):
        if self._step_log is not None:
            fd, run_id = self._step_log
            try:
                os.write(fd, f"{run_id} {step} {seconds:.6f}\n".encode())
            except OSError as error:  # training is worth more than its account
                print(f"espalier: cannot append to the step log: {error}", file=sys.stderr, flush=True)

    def _begin_run(self, request):
        """Its steps are logged, if the request names a file, and its memory is counted from here."""
        path, run_id = request.get("stepLog"), whole(request.get("runId"))
        if run_id == 0:
            raise RequestError("the run's id is missing")
        peak_memory.forget()
        if self._step_log is not None:
            os.close(self._step_log[0])
        self._step_log = None
        if path:
            try:
                self._step_log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644), run_id
            except OSError as error:
                raise RequestError(f"cannot open the step log: {error}") from None


def say(text):
    """Into the log, beside what the trainer prints, if that has left a stream for it."""
    try:
        print(text, file=sys.stderr)
    except (AttributeError, OSError, ValueError):
        pass


def flush_output():
    """What was printed goes with the step on the way to which it was. A trainer may have replaced or closed the streams."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


def whole(number):
    """A whole number of a request: left out it is 0, and beyond 2^53 it is written as a text."""
    try:
        return int(number or 0)
    except (TypeError, ValueError):
        raise RequestError(f"expected a whole number, got {number!r}") from None


def step_meaning(step):
    updates = whole(step.get("updates"))
    if step.get("epoch") is True:
        return StepMeaning(updates=None)
    if updates < 1:
        raise RequestError("a step must be an epoch or at least one update")
    return StepMeaning(updates)
