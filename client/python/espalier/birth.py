"""How a template's process becomes a worker that it is asked for (worker_template.py).

It is asked by one message: its length in four bytes, little-endian, then NAME=VALUE, each ended by a zero byte (Wanted). With its first byte
come the handles of the worker's birth, of its socket, of its log, and, if it has one, of its control group's list of processes. Into its birth
it writes its process id, a native int, once it is all that a worker is; whoever closes the other end has given it up."""

import collections
import contextlib
import ctypes
import os
import resource
import socket
import struct
import sys

from espalier.parent import die_with_parent

WORKER_SOCKET = 3
HANDLES_MAX = 4
MARK = "ESPALIER_WORKER"


class Wanted:
    """The worker to be: `parent`, a process id; `arguments` of worker.py; `variables` of its environment; its `mark`, by which the system's list
    of processes tells whose it is; `cores`, none: all; `memory_bytes`, 0: any."""

    def __init__(self, content):
        fields = collections.defaultdict(list)
        for each in os.fsdecode(content).split("\0")[:-1]:
            name, _, value = each.partition("=")
            fields[name].append(value)
        [parent], [self.mark], [memory_bytes] = fields["parent"], fields["mark"], fields["memory_bytes"]
        self.parent, self.memory_bytes = int(parent), int(memory_bytes)
        self.arguments = fields["argument"]
        self.variables = dict(each.split("=", 1) for each in fields["variable"])
        self.cores = [int(each) for each in fields["core"]]


def receive(asked):
    """(Wanted, handles); (None, []) once the other side has ended."""
    head, handles, _, _ = socket.recv_fds(asked, 1, HANDLES_MAX, socket.MSG_CMSG_CLOEXEC)
    if not head:
        return None, []
    head += read(asked, 3)
    return Wanted(read(asked, int.from_bytes(head, "little"))), handles


def read(asked, count):
    content = asked.recv(count, socket.MSG_WAITALL)
    if len(content) < count:
        sys.exit()
    return content


def is_forked():
    """True in the worker, which is the node manager's child: the process between them ends at once."""
    parent = os.getppid()
    between = os.fork()
    if between != 0:
        os.waitpid(between, 0)
        return False
    between = os.getpid()
    try:
        forked = os.fork()
    except OSError:
        forked = -1
    if forked != 0:
        os._exit(0)
    while os.getppid() == between:
        os.sched_yield()
    die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    return True


def become(wanted, handles, mark):
    """This process is what is wanted, as if it had been started so; its arguments."""
    born, own_socket, log, *group = handles
    os.setpgid(0, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    if group:
        enter(*group)
    if wanted.cores:
        with contextlib.suppress(OSError):  # none of them is there
            os.sched_setaffinity(0, wanted.cores)
    if wanted.memory_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted.memory_bytes, wanted.memory_bytes))
    mark.write(wanted.mark)
    os.environ.update(wanted.variables)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()  # as in every process that begins; Python sees to its own
    try:
        os.write(born, struct.pack("i", os.getpid()))
    except BrokenPipeError:
        os._exit(1)
    os.dup2(own_socket, WORKER_SOCKET)
    os.closerange(WORKER_SOCKET + 1, os.sysconf("SC_OPEN_MAX"))
    return [*wanted.arguments, "--fd", str(WORKER_SOCKET)]


def enter(group):
    try:
        os.write(group, b"0")
    except OSError as error:
        print(f"cannot enter its control group: {error.strerror}", file=sys.stderr)


class MarkOfProcess:
    """The variable MARK where the system's list of processes reads it: in the memory that held the environment when this process began.
    REQUIRES: nothing has changed it since."""

    def __init__(self):
        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_void_p
        self._place = getenv(MARK.encode())
        self._room = len(os.fsencode(os.environ[MARK]))

    def write(self, text):
        content = os.fsencode(text)
        if len(content) > self._room:
            raise ValueError(f"{MARK}: {len(content)} bytes do not fit into {self._room}")
        ctypes.memset(self._place, 0, self._room)
        ctypes.memmove(self._place, content, len(content))
        os.environ[MARK] = text  # for what it starts
