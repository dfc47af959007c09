"""The processes of a loader, which may be killed like any other: by a user, by the kernel for want of memory."""

from torch.utils.data._utils import signal_handling


def begin(loader):
    """An iterator over PyTorch's loader. Of a dead process only its `next` tells, within some seconds.

    PyTorch's own handler of SIGCHLD, which it sets once a process, tells at once, by an exception wherever Python happens to be: in the
    middle of an update, or while the other processes begin. So it is made believe that it has."""
    signal_handling._SIGCHLD_handler_set = True
    return iter(loader)


def tells_of_death(error):
    """Whether `next` raised it because a process is gone, or took a batch along that it had not handed over whole.

    What a data set raises says so otherwise: PyTorch adds the process to its message."""
    if isinstance(error, (ConnectionError, EOFError, FileNotFoundError)):
        return "DataLoader worker process" not in str(error)
    return isinstance(error, RuntimeError) and "DataLoader worker" in str(error) and "exited unexpectedly" in str(error)
