"""`python -m espalier.worker_template --fd N`: a process that has imported what every worker imports, PyTorch above all, and becomes workers
by forking, as its node manager asks over the socket N: some milliseconds each, where importing takes seconds. It does nothing else, so that
there is nothing that a worker could inherit but what was imported. It ends with the socket, or when it is no template any more: the worker
that was asked for is then started from the beginning, as all are where none can be forked."""

import gc

gc.disable()  # as in worker.py

import argparse
import contextlib
import os
import pathlib
import socket
import sys

from espalier import birth, packages, worker

DEVICES = ("/dev/nvidia", "/dev/kfd", "/dev/dri")


def main():
    parser = argparse.ArgumentParser(prog="python -m espalier.worker_template")
    parser.add_argument("--fd", type=int, required=True)
    mark = birth.MarkOfProcess()
    early = Early()
    arguments = next_worker(socket.socket(fileno=parser.parse_args().fd), mark)
    environment = dict(os.environ)
    sys.argv = ["espalier.worker", *arguments]
    try:
        worker.main(early.importing)
    except TooEarly:
        begin_afresh(arguments, environment)


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


class TooEarly(Exception):
    """A trainer must not find imported what this process has imported: its worker is to begin afresh."""


class Early:
    """What a worker imports as it trains its first step, imported now. Ends the process where that would count for trainers that never
    import it."""

    def __init__(self):
        before = top_level_modules()
        counted = {packages.plain(each) for each in packages.with_required(packages.imported_now())}
        with contextlib.suppress(ImportError):  # of an older PyTorch
            import torch._dynamo  # noqa: F401 - whoever makes an optimizer imports it
        if beyond := sorted(each for each in packages.imported_now() if packages.plain(each) not in counted):
            sys.exit(f"with torch._dynamo comes {beyond[0]}, whose version would count for every trainer")
        self._names = top_level_modules() - before

    @contextlib.contextmanager
    def importing(self, place):
        """For the time in which the trainer's file, "FILE.py:NAME", is imported. Raises TooEarly if a file beside it is called as what was
        imported early, or if it says of PyTorch what was read by then."""
        folder = pathlib.Path(place.rpartition(":")[0]).resolve().parent
        if folder.is_dir() and self._names & {each.name.partition(".")[0] for each in folder.iterdir()}:
            raise TooEarly
        before = settings_of_pytorch()
        yield
        if settings_of_pytorch() != before:
            raise TooEarly


def top_level_modules():
    return {name.partition(".")[0] for name in list(sys.modules)}


def settings_of_pytorch():
    return {name: value for name, value in os.environ.items() if name.startswith(("TORCH", "PYTORCH"))}


def begin_afresh(arguments, environment):
    """The same process, of which nothing remains but what it was given."""
    os.set_inheritable(birth.WORKER_SOCKET, True)
    python = sys.orig_argv[: sys.orig_argv.index("espalier.worker_template")]
    os.execve(sys.executable, [*python, "espalier.worker", *arguments], environment)


def refuse_open_devices():
    if opened := [each for each in open_files() if each.startswith(DEVICES)]:
        sys.exit(f"to import PyTorch has opened {opened[0]}, which nobody can use who is forked then")


def stamps(of=None):
    """What tells whether a process that begins now would import the same: file -> when it was changed, size, inode; of what was imported, and
    of the folders that are searched. `of`: of these alone. Cost: a millisecond for some hundred files."""
    if of is None:
        files = [getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())]
        of = [*(each for each in files if each and os.path.isfile(each)), *sys.path[1:]]  # the first is where the process was started
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
