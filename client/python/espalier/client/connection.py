"""The calls to a master, every one with the same retry. Any thread may call."""

import math
import threading
import time
from collections.abc import Iterator
from typing import Any

import grpc

from espalier.client.channel import REQUEST_BYTES_MAX, open_channel
from espalier.client.encryption import Encryption
from espalier.client.protocol import methods
from espalier.client.retry import RetryPolicy, given_up, may_retry
from espalier.client.say import say
from espalier.client.status import exception_of
from espalier.errors import Error, ResourceExhausted, Unavailable


class Connection:
    """`token` goes with every call; empty: none does. Raises Unavailable if nobody answers within the policy's patience."""

    def __init__(self, address: str, token: str = "", policy: RetryPolicy = RetryPolicy(),
                 encryption: Encryption = Encryption()):  # fmt: skip
        self.address = address
        self.token = token
        self.policy = policy
        self._channel = open_channel(address, policy.first_connection_patience, encryption)
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._methods = methods()
        self._is_lost = False
        self._stubs = {name: self._stub(method) for name, method in self._methods.items()}

    def call(self, name: str, /, **fields: Any) -> Any:
        """The answer to the request that has these fields. Unavailable and aborted calls are tried again, as the same request, for as
        long as the policy allows. Raises the master's error, with the field that it names."""
        request = self._methods[name].request(**fields)
        if (size := request.ByteSize()) > REQUEST_BYTES_MAX:
            raise ResourceExhausted(f"a request has at most {REQUEST_BYTES_MAX} bytes, got {size}; ask for less at once")
        started = time.monotonic()
        attempt, left = 0, None
        while True:
            try:  # once it has failed, it waits for a connection that is lost
                answer = self._stubs[name](request, metadata=self._metadata, wait_for_ready=attempt > 0, timeout=left)
                self.found()
                return answer
            except grpc.RpcError as raised:
                error = exception_of(raised, name)
            pause = self.policy.pause_before(attempt)
            left = self.policy.call_patience - (time.monotonic() - started) - pause
            if not may_retry(error):
                raise error
            if left < 0:
                raise given_up(error)
            self.say_lost(error)
            left = None if left == math.inf else left
            time.sleep(pause)
            attempt += 1

    def pages(self, name: str, **request: Any) -> Iterator[Any]:
        """What a listing's calls answer, one after the other, up to its last page; each as it is looked at."""
        while True:
            page = self.call(name, **request)
            yield page
            if not page.next_page_token:
                return
            request["page_token"] = page.next_page_token

    def watch(self, study_id: int, from_event: int, previous_happened_at: Any = None) -> "Watch":
        """One attempt to read a study's events: who reads it starts the next from the next event."""
        request = self._methods["Watch"].request(study_id=study_id, from_event=from_event,
                                                previous_happened_at=previous_happened_at)  # fmt: skip
        is_patient = self.policy.call_patience == math.inf  # who waits for so long only looks again and again
        return Watch(self._stubs["Watch"](request, metadata=self._metadata, wait_for_ready=is_patient))

    def say_lost(self, error: Error) -> None:
        """Once, until the next answer: that the server is away, and is waited for."""
        if isinstance(error, Unavailable) and not self._is_lost:
            self._is_lost = True
            say(f"the server at {self.address} does not answer, and is waited for; start it again with: espalier up")

    def found(self) -> None:
        """Something was answered."""
        self._is_lost = False

    def close(self) -> None:
        self._channel.close()

    def _stub(self, method):
        make = self._channel.unary_stream if method.is_stream else self._channel.unary_unary
        return make(method.path, request_serializer=method.request.SerializeToString, response_deserializer=method.response.FromString)


class Watch:
    """One stream of a study's events."""

    def __init__(self, call):
        self._call = call
        self._let_go = threading.Event()  # by gRPC's own thread
        if not call.add_callback(self._let_go.set):
            self._let_go.set()

    def responses(self):
        """Each WatchResponse, until the stream ends. Raises why it ended, if not by itself."""
        try:
            yield from self._call
        except grpc.RpcError as raised:
            raise exception_of(raised, "Watch") from None
        finally:
            # A process that ends cuts gRPC's thread off. If that held the call's lock, the process would wait for it for ever, as it frees
            # the call.
            self._call.cancel()
            self._let_go.wait()

    def cancel(self) -> None:
        """From any thread: ends the stream soon."""
        self._call.cancel()
