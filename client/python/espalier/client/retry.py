"""Which errors are tried again, and when. The same rules as those of the C++ client (client/connection.h): safe, since every call that
changes something is known by its request id."""

import math
import secrets
from typing import NamedTuple

from espalier.errors import Aborted, Error, Unavailable


class RetryPolicy(NamedTuple):
    """Seconds. A call is tried again, and a study's events are waited for once they are lost, for `call_patience`; pauses double from
    `first_pause` up to `longest_pause`."""

    first_connection_patience: float = 3.0
    call_patience: float = math.inf
    first_pause: float = 0.05
    longest_pause: float = 2.0

    def pause_before(self, attempt: int) -> float:
        """Before attempt number `attempt`; 0: the first repetition."""
        return min(self.longest_pause, self.first_pause * 2.0 ** min(attempt, 30))


def may_retry(error: Error) -> bool:
    return isinstance(error, (Unavailable, Aborted))


def given_up(error: Error) -> Error:
    """What is said of it once the patience has ended."""
    if not isinstance(error, Unavailable):
        return error
    return Unavailable(f"the server does not answer ({error.message}); start it again with: espalier up", error.field)


def new_request_id() -> str:
    """32 hexadecimal digits that nobody else has drawn."""
    return secrets.token_hex(16)
