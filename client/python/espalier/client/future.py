"""Futures: evaluations that arrive later, and ways to wait for several."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING

from espalier.client.evaluation import Evaluation
from espalier.errors import InvalidArgument, TrialCancelled, TrialFailed

if TYPE_CHECKING:
    from espalier.client.trial import Trial


class Future(concurrent.futures.Future):
    """The evaluation of one trial at one step. Also what `concurrent.futures` knows: `done()`, `exception()`, `add_done_callback()`
    (called on the thread that reads the study's events: be short). In a coroutine, `await` it. Any thread may use it."""

    def __init__(self, trial: Trial, step: int | None):
        super().__init__()
        self.trial = trial
        self.step = step  # None: the end of a branch, which its decay says

    def result(self, timeout: float | None = None) -> Evaluation:
        """Waits. Raises TrialFailed, or TrialCancelled, if there is no evaluation; TimeoutError after `timeout` seconds; the
        server's error if it refuses to say more."""
        return _raised(self.evaluation(timeout))

    def evaluation(self, timeout: float | None = None) -> Evaluation:
        """As `result`, but a failed or cancelled one is returned, too: `state` says so."""
        try:
            return super().result(timeout)
        except concurrent.futures.TimeoutError:
            raise TimeoutError(f"trial {self.trial.id} has no result {self._place()} within {timeout} s") from None

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What `result` would raise."""
        try:
            self.result(timeout)
        except TimeoutError:
            raise
        except Exception as raised:
            return raised
        return None

    def cancel(self) -> bool:
        """Withdraws the trial, all of its steps. False if this one was settled before."""
        if self.done():
            return False
        self.trial.cancel()
        return True

    def cancelled(self) -> bool:
        return self.done() and super().exception() is None and super().result().state == "cancelled"

    def __await__(self):
        loop = asyncio.get_running_loop()
        waiting = loop.create_future()

        def settle():
            if not waiting.done():  # who waited may have given up: that withdraws no trial
                waiting.set_result(None)

        self.add_done_callback(lambda _: loop.call_soon_threadsafe(settle))
        yield from waiting
        return self.result()

    @property
    def order(self) -> int:
        """Results of one study arrive in this order; errors come last. REQUIRES: done()."""
        return (1 << 63) if super().exception() is not None else super().result().order

    def __repr__(self):
        state = "waiting" if not self.done() else self.cancelled() and "cancelled" or "settled"
        return f"<Future of trial {self.trial.id} {self._place()}: {state}>"

    def _place(self):
        return "at its end" if self.step is None else f"at step {self.step}"


def _raised(evaluation):
    if evaluation.state == "done":
        return evaluation
    kind = TrialCancelled if evaluation.state == "cancelled" else TrialFailed
    why = evaluation.message or "its trial was withdrawn, or its study cancelled; submit it again, to a study that runs"
    raise kind(f"trial {evaluation.trial_id} has no result at step {evaluation.step}: {why}", evaluation)


def wait_any(futures: Iterable[Future], timeout: float | None = None) -> Future:
    """Waits until one is settled, and returns the one that was settled first. Raises TimeoutError after `timeout` seconds, and
    InvalidArgument if there is none to wait for."""
    waiting = list(futures)
    if not waiting:
        raise InvalidArgument("expected at least one future, got none")
    if not concurrent.futures.wait(waiting, timeout, concurrent.futures.FIRST_COMPLETED).done:
        raise TimeoutError(f"none of {len(waiting)} results arrived within {timeout} s")
    # Looked through twice: while the first pass finds one that is settled, an earlier one may have been passed already.
    for _ in range(2):
        settled = [each for each in waiting if each.done()]
    return min(settled, key=lambda each: each.order)


def wait_all(futures: Iterable[Future], timeout: float | None = None) -> list[Evaluation]:
    """Waits for all, and returns their evaluations, in the order of the futures, those of failed and cancelled trials too. Raises
    TimeoutError after `timeout` seconds."""
    waiting = list(futures)
    left = concurrent.futures.wait(waiting, timeout).not_done
    if left:
        raise TimeoutError(f"{len(left)} of {len(waiting)} results did not arrive within {timeout} s")
    return [each.evaluation() for each in waiting]


class as_completed:
    """`for future in es.as_completed(futures)`, or `async for`: each one once it is settled, in the order in which they were. Raises
    TimeoutError after `timeout` seconds in all."""

    def __init__(self, futures: Iterable[Future], timeout: float | None = None):
        self._futures = list(futures)
        self._timeout = timeout

    def __iter__(self) -> Iterator[Future]:
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        waiting = dict.fromkeys(self._futures)
        while waiting:
            first = wait_any(waiting, None if deadline is None else max(0.0, deadline - time.monotonic()))
            del waiting[first]
            yield first

    async def __aiter__(self) -> AsyncIterator[Future]:
        loop = asyncio.get_running_loop()
        settled: asyncio.Queue[Future] = asyncio.Queue()
        for each in self._futures:
            each.add_done_callback(lambda done: loop.call_soon_threadsafe(settled.put_nowait, done))
        async with asyncio.timeout(self._timeout):
            for _ in self._futures:
                yield await settled.get()
