"""A study's events, read by one thread from the first to the last: it settles the futures of claims in the events' order and keeps the
latest progress. A broken stream is opened again from the next event, for as long as the policy allows. Any thread may call."""

from __future__ import annotations

import threading
import time
from typing import Any

from espalier.client.connection import Connection, Watch
from espalier.client.evaluation import Evaluation, evaluation_of
from espalier.client.future import Future
from espalier.client.protocol import misunderstood
from espalier.client.retry import given_up, may_retry
from espalier.errors import Aborted, Error


class StudyStream:
    """The thread begins with the first that is waited for, and ends with the study, or with `close`."""

    def __init__(self, connection: Connection, study_id: int):
        self._connection = connection
        self._study_id = study_id
        self._changed = threading.Condition()
        self._settled: dict[int, Evaluation] = {}  # by claim
        self._waiting: dict[int, list[Future]] = {}
        self._progress: Any = None
        self._batch_count = 0  # of the study's tuner, that were taken
        self._ended: Error | None = None  # no more events will come, though the study is not finished
        self._finished = False
        self._stopping = False
        self._next_event = 1
        self._previous_happened_at: Any = None  # of the event before that one
        self._attempt = 0  # since the last response
        self._lost_at: float | None = None  # none: a response was the last that came
        self._watch: Watch | None = None
        self._thread: threading.Thread | None = None

    def settle(self, claim_id: int, future: Future) -> None:
        """Settles `future` with what the claim comes to, whether its event has come already or not."""
        with self._changed:
            self._begin()
            evaluation = self._settled.get(claim_id)
            if evaluation is None and self._ended is None:
                self._waiting.setdefault(claim_id, []).append(future)
                return
        _give(future, evaluation, self._ended)

    @property
    def progress(self) -> Any:
        """The latest StudyProgress, or None."""
        with self._changed:
            self._begin()
            return self._progress

    @property
    def batch_count(self) -> int:
        """How many batches of the study's tuner were taken."""
        with self._changed:
            self._begin()
            return self._batch_count

    def wait_until_finished(self, timeout: float | None = None) -> bool:
        """False: not within `timeout` seconds. Raises the stream's error."""
        with self._changed:
            self._begin()
            self._changed.wait_for(lambda: self._finished or self._ended is not None, timeout)
            if not self._finished and self._ended is not None:
                raise self._ended
            return self._finished

    def close(self) -> None:
        """Futures that wait get Aborted."""
        with self._changed:
            self._stopping = True
            if self._watch is not None:
                self._watch.cancel()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._end(Aborted("the study's events are no longer read: its client was closed"))

    def _begin(self):
        if self._thread is None and not self._stopping:
            self._thread = threading.Thread(target=self._run, name=f"espalier study {self._study_id}", daemon=True)
            self._thread.start()

    def _run(self):
        while True:
            error = None
            try:
                self._read_once()
            except Error as raised:
                error = raised
            with self._changed:
                if self._finished or self._stopping:
                    return
            if error is not None and (ended := self._ended_by(error)):
                self._end(ended)
                return
            with self._changed:
                self._changed.wait_for(lambda: self._stopping, self._connection.policy.pause_before(self._attempt))
                self._attempt += 1
                if self._stopping:
                    return

    def _ended_by(self, error):
        """Why nothing more is read; None: it is tried again."""
        if not may_retry(error):
            return error
        now, policy = time.monotonic(), self._connection.policy
        self._lost_at = now if self._lost_at is None else self._lost_at
        if now - self._lost_at + policy.pause_before(self._attempt) > policy.call_patience:
            return given_up(error)
        self._connection.say_lost(error)
        return None

    def _read_once(self):
        watch = self._connection.watch(self._study_id, self._next_event, self._previous_happened_at)
        with self._changed:
            self._watch = watch
            if self._stopping:
                watch.cancel()
        for response in watch.responses():
            self._take(response)

    def _take(self, response):
        settled = []
        evaluations = _evaluations_of(response.events)
        self._connection.found()
        with self._changed:
            self._attempt, self._lost_at = 0, None
            if response.HasField("progress"):
                self._progress = response.progress
            for event in response.events:
                if event.number < self._next_event:
                    continue
                self._next_event, self._previous_happened_at = event.number + 1, event.happened_at
                if event.HasField("claim_settled"):
                    evaluation = evaluations[event.number]
                    self._settled[evaluation.claim_id] = evaluation
                    settled += [(future, evaluation) for future in self._waiting.pop(evaluation.claim_id, ())]
                self._batch_count += event.HasField("batch_taken")
                self._finished = self._finished or event.HasField("study_finished")
            self._changed.notify_all()
        for future, evaluation in settled:
            _give(future, evaluation, None)

    def _end(self, error):
        with self._changed:
            if self._ended is not None:
                return
            self._ended = error
            waiting = [future for futures in self._waiting.values() for future in futures]
            self._waiting.clear()
            self._changed.notify_all()
        for future in waiting:
            _give(future, None, error)


def _evaluations_of(events):
    """By event. Raises WrongVersion of what this package does not know."""
    for event in events:
        if event.WhichOneof("kind") is None:
            raise misunderstood(f"event {event.number}")
    return {event.number: evaluation_of(event.claim_settled, event.number) for event in events if event.HasField("claim_settled")}


def _give(future, evaluation, error):
    if evaluation is not None:
        future.set_result(evaluation)
    else:
        future.set_exception(error)
