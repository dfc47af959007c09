"""A node manager made of plain Python: it starts a worker over a socket pair and leads it, request by request."""

import atexit
import ctypes
import functools
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "client" / "python"
LINEAGE = "0" * 32
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


class Failed(Exception):
    """The worker answered with a failure."""

    def __init__(self, failure):
        super().__init__(failure.get("message"))
        self.kind = failure["kind"].removeprefix("FAILURE_KIND_")
        self.state_intact = failure.get("stateIntact", False)
        self.worker_unusable = failure.get("workerUnusable", False)


def wire(values):
    fields = {bool: "boolean", int: "integer", float: "floating", str: "text"}
    return {name: {fields[type(value)]: value} for name, value in values.items()}


def python_worker(trainer):
    """The command of one for `trainer`, "FILE.py:NAME"."""
    return [sys.executable, "-m", "espalier.worker", str(trainer)]


def environment_with(environment):
    return {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONHASHSEED": "0", **(environment or {})}


class Template:
    """A process that becomes workers (espalier/worker_template.py). One for all tests of a process, which becomes their parent."""

    def __init__(self):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.asked, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "espalier.worker_template", "--fd", str(theirs.fileno())]
            environment = environment_with({"ESPALIER_WORKER": "room for a mark"})
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=environment)
        atexit.register(self.end)

    def end(self):
        self.asked.close()
        self.process.wait()

    def become(self, arguments, environment, output, end):
        """The process id of a worker whose socket is `end`."""
        fields = [f"parent={os.getpid()}", "mark=a test", "memory_bytes=0", *(f"argument={each}" for each in arguments),
                  *(f"variable={name}={value}" for name, value in environment.items())]  # fmt: skip
        content = "".join(each + "\0" for each in fields).encode()
        ours, birth = socket.socketpair()
        with ours:
            with birth:
                handles = [birth.fileno(), end.fileno(), output.fileno()]
                socket.send_fds(self.asked, [len(content).to_bytes(4, "little") + content], handles)
            [pid] = struct.unpack("i", ours.recv(4, socket.MSG_WAITALL))
        return pid


@functools.cache
def template():
    return Template()


class Copy:
    """A worker that the template became: as much of subprocess.Popen as tests use."""

    def __init__(self, trainer, environment, output, end):
        self.pid = template().become([str(trainer)], environment or {}, output, end)
        self.returncode = None

    def wait(self):
        return self.status(0)

    def poll(self):
        return self.status(os.WNOHANG)

    def status(self, options):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid != 0:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def kill(self):
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)


class Worker:
    """A worker process. `trainer`: "FILE.py:NAME"; or `command`: one that offers one trainer. `is_copy`: of a process that has imported
    PyTorch, which is quicker, where how it starts is not what is tested. REQUIRES: `log` may be written."""

    def __init__(self, trainer, log, environment=None, inherited=(), command=None, *, is_copy=False):
        ours, theirs = socket.socketpair()
        os.set_inheritable(theirs.fileno(), True)
        self.log = pathlib.Path(log)
        with open(log, "ab") as output:
            if is_copy:
                self.process = Copy(trainer, environment, output, theirs)
            else:
                self.process = subprocess.Popen(
                    [*(command or python_worker(trainer)), "--fd", str(theirs.fileno())],
                    stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=[theirs.fileno(), *inherited],
                    env=environment_with(environment),
                )  # fmt: skip
        theirs.close()
        self.socket = ours
        self.last_id = 0
        self.early = {}  # answers that came before they were asked for
        self.heartbeats = []  # the requests that they were about
        self.step = 0

    def ask(self, kind, **fields):
        """The answer's content. Raises Failed."""
        return self.answer(self.send(kind, **fields))

    def send(self, kind, **fields):
        self.last_id += 1
        self.send_frame(json.dumps({"id": self.last_id, kind: fields}).encode())
        return self.last_id

    def send_frame(self, content):
        self.socket.sendall(len(content).to_bytes(4, "little") + content)

    def answer(self, request_id):
        while request_id not in self.early:
            reply = json.loads(self.read(int.from_bytes(self.read(4), "little")))
            answered = reply.pop("id")
            if "heartbeat" in reply:
                self.heartbeats.append(answered)
            else:
                self.early[answered] = reply
        [(kind, content)] = self.early.pop(request_id).items()
        if kind == "failure":
            raise Failed(content)
        return content

    def read(self, count):
        content = b""
        while len(content) < count:
            try:
                part = self.socket.recv(count - len(content))
            except ConnectionResetError:
                part = b""
            if not part:
                raise EOFError(f"the worker ended with {self.process.wait()}:\n{self.log.read_text()}")
            content += part
        return content

    def describe(self, capabilities=()):
        return self.ask("describe", capabilities=capabilities)

    def init(self, values, updates=None, step_log=""):
        [trainer] = self.describe()["trainers"]
        defaults = {each["name"]: each["defaultValue"] for each in trainer["hyperParameters"]}
        self.sequences = [each["name"] for each in trainer["hyperParameters"] if not each["initial"]]
        self.step = 0
        self.values = {**defaults, **wire(values)}
        self.values_at_init = dict(self.values)
        step = {"epoch": True} if updates is None else {"updates": updates}
        self.ask("init", trainer=trainer["name"], data=trainer.get("data", ""), step=step, values=self.values, runId="5",
                 stepLog=str(step_log))  # fmt: skip

    def proceed(self, step_log=""):
        self.ask("proceed", runId="6", stepLog=str(step_log))

    def setup_all(self, values):
        """The first Setup: all sequences, with these values or those of Init."""
        self.values.update(wire(values))
        self.ask("setup", values={name: self.values[name] for name in self.sequences})

    def setup(self, values):
        self.ask("setup", values=wire(values))

    def train(self):
        self.step += 1
        return self.ask("train", step=self.step)["metrics"]

    def evaluate(self):
        return self.ask("evaluate")["metrics"]

    def begin_save(self, path):
        return self.send("save", path=str(path), identity={"planId": "1", "step": str(self.step), "lineageDigest": LINEAGE})

    def save(self, path):
        return self.answer(self.begin_save(path))

    def load(self, path, step, of_other_code=False):
        self.ask("load", path=str(path), **({"ofOtherCode": True} if of_other_code else {}))
        self.step = step

    def stop(self):
        """The exit status."""
        self.socket.close()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.kill()
        self.process.wait()
