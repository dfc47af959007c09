"""The processes of a loader, which may be killed like any other: by a user, by the kernel for want of memory."""

import signal
import threading


def begin(loader):
    """An iterator over PyTorch's loader. Of a dead process only its `next` tells, within some seconds.

    PyTorch's own handler of SIGCHLD tells at once, by an exception wherever Python happens to be: in the middle of an update."""
    if threading.current_thread() is not threading.main_thread():
        return iter(loader)
    handler = signal.getsignal(signal.SIGCHLD)
    try:
        return iter(loader)
    finally:
        signal.signal(signal.SIGCHLD, handler)


def tells_of_death(error):
    """Whether `next` raised it because a process is gone, or took a batch along that it had not handed over whole.

    What a data set raises says so otherwise: PyTorch adds the process to its message."""
    if isinstance(error, (ConnectionError, EOFError, FileNotFoundError)):
        return "DataLoader worker process" not in str(error)
    return isinstance(error, RuntimeError) and "DataLoader worker" in str(error) and "exited unexpectedly" in str(error)
