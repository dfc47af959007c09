"""Says that a worker gets on with what it was asked: a request is a hang when its kind takes that much longer than it was measured to
take, counted from the last word. So a step of hours has to say something now and then."""

import threading
import time

PERIOD_SECONDS = 1

_lock = threading.Lock()
_send = None
_sent_at = 0.0


def heartbeat():
    """To be called in long work, as often as one likes: a word goes out once a second at most. Loaders of this package say it with every
    batch. Of no effect outside of a worker."""
    global _sent_at
    now = time.monotonic()
    with _lock:
        if _send is None or now - _sent_at < PERIOD_SECONDS:
            return
        _sent_at = now
        _send()


def listen(send):
    """From now on `send()` is called by heartbeat(); None: nobody listens."""
    global _send, _sent_at
    with _lock:
        _send, _sent_at = send, time.monotonic()
