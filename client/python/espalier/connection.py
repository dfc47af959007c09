"""Frames of JSON over the inherited socket (docs/trainer_protocol.md, "Frames"). Replies may come from several threads."""

import json
import math
import os
import threading

FRAME_BYTES_MAX = 16 << 20


class BrokenFrame(Exception):
    """A frame that is too long, cut short, or no JSON object: nothing behind it can be understood."""


class Connection:
    def __init__(self, fd):
        self._fd = fd
        self._lock = threading.Lock()

    def read(self):
        """The next request, or None where the socket is closed between frames. Raises BrokenFrame."""
        head = self._read(4, may_end=True)
        if head is None:
            return None
        length = int.from_bytes(head, "little")
        if length > FRAME_BYTES_MAX:
            raise BrokenFrame(f"a frame of {length} bytes; at most {FRAME_BYTES_MAX}")
        try:
            request = json.loads(self._read(length))
        except ValueError as error:
            raise BrokenFrame(f"a frame that is no JSON: {error}") from None
        if not isinstance(request, dict):
            raise BrokenFrame("a frame that is no JSON object")
        return request

    def write(self, reply):
        """A peer that is gone is noticed by the next read."""
        text = json.dumps(writable(reply), allow_nan=False).encode()
        with self._lock:
            try:
                rest = memoryview(len(text).to_bytes(4, "little") + text)
                while rest:
                    rest = rest[os.write(self._fd, rest):]
            except OSError:
                pass

    def _read(self, count, may_end=False):
        content = bytearray()
        while len(content) < count:
            part = os.read(self._fd, count - len(content))
            if not part:
                if may_end and not content:
                    return None
                raise BrokenFrame("a frame that is cut short")
            content += part
        return content


def writable(value):
    """Numbers that are not finite as texts, as protobuf's JSON mapping has them."""
    if isinstance(value, dict):
        return {key: writable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [writable(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
