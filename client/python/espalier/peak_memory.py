"""The most memory that a training has held: of the process, and of the GPUs that it uses."""

import pathlib
import time

import torch

# The system is asked at most so often, in seconds: it takes as long as the shortest steps.
_ASK_EVERY = 0.01

_asked_at = None  # not since forget()
_bytes = 0


def forget():
    """The peak is counted from here. Where the system does not let it, peaks of earlier trainings count, too."""
    global _asked_at
    _asked_at = None
    if torch.cuda.is_initialized():
        for index in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(index)
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def of_process():
    """In bytes, as of at most ten milliseconds ago; 0 where the system does not tell."""
    global _asked_at, _bytes
    now = time.monotonic()
    if _asked_at is None or now - _asked_at >= _ASK_EVERY:
        _asked_at, _bytes = now, _ask()
    return _bytes


def _ask():
    try:
        status = pathlib.Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def of_device():
    """Of all GPUs that PyTorch uses here, in bytes; 0: it uses none."""
    if not torch.cuda.is_initialized():
        return 0
    return sum(torch.cuda.max_memory_reserved(index) for index in range(torch.cuda.device_count()))
