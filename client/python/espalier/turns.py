"""A thread that takes turns with its creator: one of the two runs, the other waits. So code that runs from top to bottom can be led
from outside, call by call."""

import queue
import threading


class Abandoned(BaseException):
    """Raised inside the thread where it waits, when nobody will call again: it unwinds, and `finally` blocks run."""


class Turns:
    """`body` runs in the thread, from the first `start` on; `at_end` runs in it when it ends, however it ends."""

    def __init__(self, body, at_end):
        self._body = body
        self._at_end = at_end
        self._calls = queue.SimpleQueue()
        self._answers = queue.SimpleQueue()  # (answer, exception)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        """Returns when the body waits for its first call. Raises what the body raises; so does `call`."""
        self._thread.start()
        self._take_answer()

    def call(self, request):
        """The body's answer to the request. REQUIRES: the body has not ended."""
        self._calls.put(request)
        return self._take_answer()

    def abandon(self):
        """Ends the thread, where it waits. May be called when it has ended."""
        self._calls.put(Abandoned())
        self._thread.join()

    def wait(self, answer=None, error=None):
        """In the thread: answers the call before (at first: the start), and returns the next request."""
        self._answers.put((answer, error))
        request = self._calls.get()
        if isinstance(request, Abandoned):
            raise request
        return request

    def _take_answer(self):
        answer, error = self._answers.get()
        if error is not None:
            raise error
        return answer

    def _run(self):
        error = None
        try:
            self._body()
        except Abandoned:
            return
        except BaseException as raised:
            error = raised
        finally:
            self._at_end()
            self._answers.put((None, error))
