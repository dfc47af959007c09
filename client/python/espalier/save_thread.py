"""Writes states while training goes on: one thread, one state after another."""

import collections
import contextlib
import os
import threading

STATES_MAX = 2
SMALL_BYTES = 16 << 20


class SaveThread:
    def __init__(self):
        self._changed = threading.Condition()
        self._jobs = collections.deque()  # (bytes, job); the first is being done
        self._is_over = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def await_room(self):
        """Before a state is copied: waits while another is held that is not small, so that no second copy stands beside it."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._jobs) < STATES_MAX and sum(size for size, _ in self._jobs) <= SMALL_BYTES)

    def add(self, byte_count, job):
        """`job()` writes a copy of so many bytes, which it holds."""
        with self._changed:
            self._jobs.append((byte_count, job))
            self._changed.notify_all()

    def finish(self):
        """Returns once all jobs are done."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self):
        with contextlib.suppress(OSError):  # on Linux a thread has a priority of its own: training goes first where both want a core
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._is_over)
                if not self._jobs:
                    return
                _, job = self._jobs[0]
            job()
            del job
            with self._changed:
                self._jobs.popleft()
                self._changed.notify_all()
