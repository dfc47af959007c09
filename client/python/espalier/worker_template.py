"""`python -m espalier.worker_template --fd N`: a process that has imported what every worker imports, PyTorch above all, and becomes workers
by forking, as its node manager asks over the socket N: some milliseconds each, where importing takes seconds. It does nothing else, so that
there is nothing that a worker could inherit but what was imported. It ends with the socket, or when it is no template any more: the worker
that was asked for is then started from the beginning, as all are where none can be forked."""

import gc

gc.disable()  # as in worker.py

import argparse
import contextlib
import os
import site
import socket
import sys

from espalier import birth, device, worker

DEVICES = ("/dev/nvidia", "/dev/kfd", "/dev/dri")


def main():
    parser = argparse.ArgumentParser(prog="python -m espalier.worker_template")
    parser.add_argument("--fd", type=int, required=True)
    mark = birth.MarkOfProcess()
    device.import_all()
    sys.argv = ["espalier.worker", *next_worker(socket.socket(fileno=parser.parse_args().fd), mark)]
    worker.main()


def next_worker(asked, mark):
    """Returns in each worker, with its arguments."""
    refuse_open_devices()
    seen = stamps()
    gc.freeze()  # what is never looked through stays shared with the workers
    while True:
        wanted, handles = birth.receive(asked)
        if wanted is None or stamps(seen) != seen:
            sys.exit()
        if wanted.parent != os.getppid():
            sys.exit("its parent is not the node manager: another program is between them, which is not to lose its child")
        if birth.is_forked():
            asked.close()
            return birth.become(wanted, handles, mark)
        for each in handles:
            os.close(each)


def refuse_open_devices():
    if opened := [each for each in open_files() if each.startswith(DEVICES)]:
        sys.exit(f"to import PyTorch has opened {opened[0]}, which nobody can use who is forked then")


def stamps(of=None):
    """What tells whether a process that begins now would import the same: file -> when it was changed, size, inode; of all that was imported
    and of the folders that packages are installed into, or of these. Cost: a millisecond for some hundred files."""
    if of is None:
        files = [getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())]
        of = [*(each for each in files if each and os.path.isfile(each)), *site.getsitepackages(), site.getusersitepackages()]
    return {file: stamp(file) for file in of}


def stamp(file):
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def open_files():
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            yield os.readlink(f"/proc/self/fd/{each}")


if __name__ == "__main__":
    main()
