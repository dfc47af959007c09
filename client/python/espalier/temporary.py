"""A worker's temporary files. Whoever starts a worker names a folder for them, which goes when the worker has ended, also when it was killed:
nothing stays on the server that nobody will ever remove."""

import contextlib
import os
import pathlib
import tempfile
from multiprocessing import util

VARIABLE = "ESPALIER_TEMPORARY"
SOCKET = "/pymp-12345678/listener-12345678"  # the length of what multiprocessing adds to a folder
SOCKET_PATH_MAX = 107  # <linux/un.h>, without the zero at the end


def keep_sockets():
    """Multiprocessing's sockets, of this process and of those that it starts as loaders are, lie in that folder from here on; in the system's
    own if nobody has named one, or its path is too long for a socket."""
    given = os.environ.get(VARIABLE)
    if not given or len(os.fsencode(given + SOCKET)) > SOCKET_PATH_MAX:
        return
    usual, tempfile.tempdir = tempfile.tempdir, given
    util.get_temp_dir()  # which is remembered
    tempfile.tempdir = usual


@contextlib.contextmanager
def working_folder():
    """A new folder of this process's own, in which it works until the end of the block, and which goes then."""
    new = tempfile.TemporaryDirectory(prefix="espalier-", dir=os.environ.get(VARIABLE), ignore_cleanup_errors=True)
    with new as folder, contextlib.chdir(folder):
        yield pathlib.Path(folder)
