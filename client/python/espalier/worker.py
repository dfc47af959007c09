"""The worker: `python -m espalier.worker FILE.py:NAME --fd N`. NAME is a subclass of es.Trainer, or a main(hp) with @es.loop. Started
by a node manager; N is the socket over which it is led. What it prints is its log. With --archive FILE.zip, the FILE.py is one of the
archive's, and the code sees the data below --folder that --data names; it works in a folder of this worker's own, where it is unpacked,
and which goes when the worker ends. With --check instead of --fd it only says whether
there is such a trainer; with --watch it says on standard error what changes and is not tracked."""

import gc

if __name__ == "__main__":
    gc.disable()  # what is imported stays: looking for garbage in it takes two fifths of the time in which PyTorch is loaded

import argparse
import contextlib
import importlib.util
import os
import pathlib
import signal
import sys

from espalier import archive, device, identity, temporary
from espalier.connection import BrokenFrame, Connection
from espalier.failure import TrainerError
from espalier.parent import die_with_parent
from espalier.session import Session
from espalier.trainer import Trainer


def main():
    arguments = parsed_arguments()
    if arguments.check:
        check(arguments.trainer)
        return
    die_with_parent()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)  # the node manager asks for what is to be saved, then for the end
    sys.stdout.reconfigure(line_buffering=True)  # its last words matter
    os.set_inheritable(arguments.fd, False)
    temporary.keep_sockets()
    device.set_up()
    try:
        with unpacked(arguments) as place:
            environment = {name: os.environ.get(name, "") for name in arguments.environment}
            trainer = trainer_in(place)
            gc.freeze()  # nor is it looked through later, which would copy it for each of a loader's processes
            gc.enable()
            Session(Connection(arguments.fd), trainer, arguments.watch, environment).serve()
    except (BrokenFrame, TrainerError) as error:
        sys.exit(f"espalier.worker: {error}")


def parsed_arguments():
    parser = argparse.ArgumentParser(prog="python -m espalier.worker")
    parser.add_argument("trainer", metavar="FILE.py:NAME")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--fd", type=int)
    what.add_argument("--check", action="store_true")
    parser.add_argument("--watch", action="store_true")
    parser.add_argument("--archive", type=pathlib.Path)
    parser.add_argument("--folder", default="/")
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--environment", action="append", default=[], help="a variable that is part of the trainer's identity")
    return parser.parse_args()


@contextlib.contextmanager
def unpacked(arguments):
    """Where the trainer lies; if an archive holds it, in this process's working folder, which is removed at the end."""
    if not arguments.archive:
        yield arguments.trainer
        return
    archive_file = arguments.archive.resolve()
    with temporary.working_folder() as folder:
        archive.unpack(archive_file, arguments.folder, arguments.data, folder)
        yield str(folder / arguments.trainer)


def check(place):
    """Ends the process with the reason if there is no trainer there, or it cannot be described."""
    try:
        identity.describe(trainer_in(place))
    except TrainerError as error:
        sys.exit(str(error))


def trainer_in(place):
    """The subclass of Trainer at "FILE.py:NAME". Raises TrainerError, and whatever the file raises while it is imported."""
    file, _, name = place.rpartition(":")
    path = pathlib.Path(file).resolve()
    if not path.is_file():
        raise TrainerError(f"{place}: expected FILE.py:NAME, and there is no file {path}")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    found = getattr(found, "espalier_trainer", found)
    if not (isinstance(found, type) and issubclass(found, Trainer)):
        raise TrainerError(f"{path}: {name} is neither a subclass of es.Trainer nor a function with @es.loop(...)")
    if found.is_named_by_variable:
        found.__name__ = name
    return found


if __name__ == "__main__":
    main()
