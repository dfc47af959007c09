"""One document, lived through from its first block to its last, in a home of its own."""

import contextlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest.mock

from service import BIN, Service
from study_files import study_files_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
UP = ["espalier", "up"]


class Wrong(Exception):
    """A block does not do what its reader expects."""


class Story:
    """As a context manager: this process is in the home, whose folder `venv` is the interpreter's environment, `examples` the repository's and
    `client` the package. The service is `shared()`, which starts it if it does not run yet, until the reader starts another one."""

    def __init__(self, shared):
        self._shared = shared
        self._own = None
        self._names = {}

    def __enter__(self):
        with contextlib.ExitStack() as at_end:
            self._home = pathlib.Path(at_end.enter_context(tempfile.TemporaryDirectory(prefix="espalier documents ")))
            for name, place in {"venv": pathlib.Path(sys.prefix), "examples": ROOT / "examples", "client": ROOT / "client"}.items():
                (self._home / name).symlink_to(place)
            path = os.pathsep.join([str(BIN), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
            changed = {"HOME": str(self._home), "PATH": path, "PYTHONPATH": str(ROOT / "client" / "python")}
            at_end.enter_context(unittest.mock.patch.dict(os.environ, changed))
            at_end.enter_context(contextlib.chdir(self._home))
            at_end.enter_context(unittest.mock.patch.object(sys, "path", [str(self._home), *sys.path]))
            self._at_end = at_end.pop_all()
        return self

    def __exit__(self, *error):
        for each in self._names.values():
            if type(each).__name__ == "Client":
                each.close()
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(f"{self._home}/"):
                del sys.modules[name]
        return self._at_end.__exit__(*error)

    def live(self, block):
        """Does what a block says. Raises Wrong, or what its Python raises."""
        for command in block.before:
            self._shell(command)
        if block.mark == "file":
            (self._home / block.said).write_text(block.text)
        if block.language == "python" and block.mark != "file":
            self._use_service()
            self._names.setdefault("__name__", block.document)
            exec(compile("\n" * block.line + block.text, block.document, "exec"), self._names)
        elif block.language == "sh":
            self._shell(block.text)
        elif block.language == "yaml":
            self._forecast(block)
        elif block.language == "json":
            json.loads(block.text)

    def _shell(self, text):
        words = shlex.split(os.path.expandvars(text), comments=True)
        if words[:2] == UP:
            self._begin(words[2:])
            return
        self._use_service()
        ended = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if ended.returncode != 0:
            raise Wrong(f"exit code {ended.returncode}\n{ended.stdout}{ended.stderr}")

    def _begin(self, options):
        """A service of the reader's own, which its reader may end."""
        if self._own is not None and self._own.up.poll() is None:
            self._own.stop()
        self._own = self._at_end.enter_context(Service(up_options=[os.path.expanduser(each) for each in options]))

    def _use_service(self):
        os.environ["ESPALIER_DATA"] = str((self._own or self._shared()).data)

    def _forecast(self, block):
        for name, text in study_files_of(block.text):
            file = self._home / (block.said if block.mark == "file" else f"{name}.yaml")
            file.write_text(text.replace("~/", f"{self._home}/"))  # the service asks the system where a home is
            self._shell(f"espalier study forecast {shlex.quote(file.name)}")
