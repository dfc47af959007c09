"""A real Espalier service for tests: starts `espalier up` on a data directory of its own, runs commands against it, finds and
kills its processes. Built programs are taken from the folder in the environment's ESPALIER_BIN."""

import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import typing

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
PROGRAMS = {"master": "espalier-master", "node": "espalier-node", "worker": "espalier-worker", "postgres": "postgres",
            "go worker": "go-worker", "tuner host": "espalier"}
BUILT_IN = f'slot_count: 1\nruntimes {{ name: "built-in" command: "{BIN}/espalier-worker" }}'  # what a node manager of one slot has
PATIENCE_SECONDS = 300
LAST_LINES = 60  # of the log, for whom a test failed


def wait_until(condition, what, every=0.02):
    """Polls until `condition()` is true and returns its value; fails after a long time, naming `what`. `every`: seconds between two questions,
    at least: what is waited for needs the processors, too, and a command takes a tenth of a second of one. `what`: a text, or a function that
    makes it when it is wanted."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (asked := time.monotonic()) < deadline:
        value = condition()
        if value:
            return value
        time.sleep(max(every, min(3 * (time.monotonic() - asked), 0.25)))
    raise AssertionError(f"waited in vain until {what() if callable(what) else what}")


class Stat(typing.NamedTuple):
    """Of a process that lives."""
    parent: int
    started: int  # when, in the system's ticks: ids are used again, within minutes where much is started


def _stat(pid):
    """None if the process has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent, started = fields[0], int(fields[1]), int(fields[19])
    return None if state == "Z" else Stat(parent, started)


def _name(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


class Service:
    """One service. Use as a context manager: stops it, and fails if anything is left behind."""

    def __init__(self, slots=2, failpoints="", data=None, up_options=(), worker=PROGRAMS["worker"]):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="espalier test "))
        self.root.chmod(0o755)
        self.data = pathlib.Path(data) if data else self.root / "data"
        self.slots = slots
        self.failpoints = failpoints
        self.up_options = up_options
        self.variables = {}  # of the environment, from the next start on
        self.programs = {**PROGRAMS, "worker": worker}
        self.up = None
        self.seen = set()  # of its processes: (id, when it was started)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        if error[0] is None:
            self.stop()
            self.check_nothing_left()
        elif self.up is not None and self.up.poll() is None:
            self.up.kill()
            self.up.wait()
        if error[0] is None:
            shutil.rmtree(self.root)
        else:
            print(f"kept for a look: {self.root}")
            last = self.up_log().splitlines()[-LAST_LINES:]
            print("the last lines of up.log:", *last, sep="\n  ", flush=True)

    def environment(self):
        environment = dict(os.environ, ESPALIER_DATA=str(self.data), **self.variables)
        if self.failpoints:
            environment["ESPALIER_FAILPOINTS"] = self.failpoints
            environment["ESPALIER_FAILPOINT_MARKER"] = str(self.root / "failed once")
        return environment

    def start(self):
        """Starts `espalier up` and waits until its master answers."""
        earlier = len(self.up_log())
        with open(self.root / "up.log", "ab") as log:
            self.up = subprocess.Popen([BIN / "espalier", "up", "--slots", str(self.slots), "--data", self.data, *self.up_options],
                                       env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: self.up.poll() is not None or "espalier: ready: " in self.up_log()[earlier:], "the service is ready")
        wait_until(lambda: self.up.poll() is not None or self.servers(), "a server is connected")
        assert self.up.poll() is None, self.up_log()

    def up_log(self):
        log = self.root / "up.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def servers(self):
        result = self.run("server", "list", check=False)
        return result.returncode == 0 and [s for s in json.loads(result.stdout) if s["connected"]]

    def stop(self):
        self.note_processes()
        if self.up.poll() is None:
            self.up.send_signal(signal.SIGINT)
        code = self.up.wait(timeout=PATIENCE_SECONDS)
        assert code == 0, f"up ended with {code}: " + self.up_log()

    def check_nothing_left(self):
        """No process that this service ever had, and no temporary file."""
        wait_until(lambda: not self.living(), lambda: f"all processes are gone, but there are {[_name(pid) for pid in self.living()]}")
        left = [p for p in self.data.rglob("*") if p.suffix == ".tmp" or "temporary" in p.parts or ("staging" in p.parts and p.is_file())]
        assert not left, f"left behind: {left}"

    @staticmethod
    def alive(pid):
        return _stat(pid) is not None

    def living(self):
        """Those of its processes that were noted, and live."""
        return [pid for pid, started in self.seen if (stat := _stat(pid)) and stat.started == started]

    def command(self, *arguments):
        """Trainers in users' own code are not checked beside their studies, but where a test asks for it: each service would check
        them anew."""
        check = ["--check", "off"] if arguments[:2] == ("study", "run") and "--check" not in arguments else []
        return [str(BIN / "espalier"), *map(str, arguments), *check, "--output", "json"]

    def run(self, *arguments, check=True, seconds=600):
        """Runs one command; returns the finished process, whose output is JSON."""
        result = subprocess.run(self.command(*arguments), env=self.environment(), capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=seconds)
        if check:
            assert result.returncode == 0, f"{arguments}: {result.returncode}\n{result.stderr}"
        return result

    def json(self, *arguments):
        return json.loads(self.run(*arguments).stdout)

    def text(self, *arguments):
        """What one command prints for people."""
        command = [*self.command(*arguments)[:-1], "text"]
        return subprocess.run(command, env=self.environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=PATIENCE_SECONDS, check=True).stdout

    def begin(self, *arguments):
        """Starts a command in the background."""
        return subprocess.Popen(self.command(*arguments), env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def write(self, name, text):
        path = self.root / name
        path.write_text(text)
        return path

    def roots(self):
        """The processes that the service's other ones are below."""
        return [self.up.pid]

    def processes(self):
        """The service's living processes below the roots: pid by role, several a role. What a worker has started of its own
        program are its loaders."""
        children = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and (stat := _stat(int(entry))):
                children.setdefault(stat.parent, []).append(int(entry))
        found = {}
        level = self.roots()
        while level:
            pid = level.pop()
            for child in children.get(pid, []):
                level.append(child)
                for role, program in self.programs.items():
                    if _name(child) == program:
                        loads = role == "worker" and pid in found.get("worker", []) + found.get("loader", [])
                        found.setdefault("loader" if loads else role, []).append(child)
        return found

    def node_token(self, user, server):
        """The file with the token of that user, a node manager of that server, whom the first call adds."""
        file = self.root / f"{user}.token"
        if not file.exists():
            file.write_text(self.json("user", "add", user, "--role", "node", "--servers", server)["token"])
        return file

    def launch_node(self, server, lines, folder, environment=None):
        """A node manager beside the service's own: its work directory, configuration and log are called `folder`."""
        own = (self.data / "config" / "node_manager.txt").read_text()
        address = re.search(r'master_address: "([^"]*)"', own).group(1)
        configuration = self.write(f"{folder}.txt", f"""
master_address: "{address}"
server: "{server}"
checkpoint_directory: "{self.data}/checkpoints"
work_directory: "{self.root}/{folder}"
token_file: "{self.node_token(folder, server)}"
{lines}
""")
        with open(self.root / f"{folder}.log", "ab") as log:
            return subprocess.Popen([BIN / "espalier-node", configuration], env=environment, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log)

    def note_processes(self):
        if self.up is not None and self.up.poll() is None:
            pids = [self.up.pid, *itertools.chain(*self.processes().values())]
            self.seen.update((pid, stat.started) for pid in pids if (stat := _stat(pid)))

    def kill(self, role, index=0):
        """kill -9 of one process of a role, or of `up` itself."""
        self.note_processes()
        if role == "up":
            self.up.kill()
            self.up.wait()
            return
        pids = sorted(wait_until(lambda: self.processes().get(role), f"there is a {role}"))
        try:
            os.kill(pids[index % len(pids)], signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has just ended by itself


class ServiceWithServer(Service):
    """The service, and a second server, whose configuration's other lines are the test's own."""

    def __init__(self, name, lines, environment=None, **options):
        super().__init__(**options)
        self.name = name
        self.lines = lines
        self.node_environment = dict(os.environ, **(environment or {}))
        self.node = None

    def start(self):
        super().start()
        self.node = self.launch_node(self.name, self.lines, folder=self.name, environment=self.node_environment)
        wait_until(lambda: any(s["name"] == self.name for s in self.servers() or []), "the second server is connected")

    def stop(self):
        self.note_processes()
        self.node.send_signal(signal.SIGTERM)
        assert self.node.wait(timeout=PATIENCE_SECONDS) == 0, self.log()
        super().stop()

    def roots(self):
        return [self.up.pid] + ([self.node.pid] if self.node is not None and self.node.poll() is None else [])

    def log(self):
        return (self.root / f"{self.name}.log").read_text()


def results(service, study):
    """What must not depend on how the study was disturbed: by the trial's sequences."""
    trials = service.json("trial", "list", study)
    return {json.dumps(t["sequences"], sort_keys=True): (t["state"], t["steps"], t["metric"], t["state_sha256"])
            for t in trials}
