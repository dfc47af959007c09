"""What a chaos run happens to: a PostgreSQL of its own, two masters, many node managers, and users' clients, each of which is started again
when it has ended, as by a service manager; links between them; small file systems. Needs root, for these."""

import asyncio
import contextlib
import getpass
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in ("tests/e2e", "tests/documents"):
    sys.path.insert(0, str(ROOT / folder))

from links import Links  # noqa: E402
from user import TEAMS  # noqa: E402

from blocks import blocks_of  # noqa: E402
from service import BIN, wait_until  # noqa: E402
from test_two_masters import free_port  # noqa: E402

POSTGRES = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
GROUPS = 8  # of servers, each behind links of its own
SIZES = {"store": "192m", "cluster": "768m", "work": "256m"}  # of file systems


class Supervised:
    """A program that is started again a while after it has ended, unless it is held. `command`: a function, asked at each start. What it
    starts itself shares its fate if `is_group`; else that is left to the program."""

    def __init__(self, name, command, log, environment=None, is_group=False):
        self.name = name
        self.command = command
        self.log = log
        self.environment = environment
        self.is_group = is_group
        self.process = None
        self.held = True
        self.not_before = 0.0
        self.ends_for_good = False  # with status 0
        self.starts = 0

    def look(self):
        now = time.monotonic()
        if self.process is not None and self.process.poll() is None:
            return
        if self.process is not None and self.ends_for_good and self.process.returncode == 0:
            return
        if self.held or now < self.not_before:
            return
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=self.is_group)  # fmt: skip
        self.not_before = now + 1.0
        self.starts += 1

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def has_ended_well(self):
        return self.process is not None and self.process.poll() == 0

    def send(self, number):
        if self.is_alive():
            (os.killpg if self.is_group else os.kill)(self.process.pid, number)

    def kill(self, start_after=0.0):
        self.not_before = time.monotonic() + start_after
        self.send(signal.SIGKILL)

    def hold(self):
        self.held = True
        self.send(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def stop(self, seconds=60):
        """Asked to. Returns its status."""
        self.held = True
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        return self.process.wait(timeout=seconds) if self.process is not None else 0


class World:
    def __init__(self, servers, clients, seed):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="espalier-chaos-"))
        self.root.chmod(0o755)
        self.seed = seed
        self.owner = "postgres" if os.geteuid() == 0 else getpass.getuser()
        self.exits = contextlib.ExitStack()
        self.database_busy = threading.Lock()  # something is done to the database
        self.restores = []  # (when the backup began, when masters had ended for the restore), by time.time()
        self.supervised = []
        self.supervising = True
        self.server_count, self.client_count = servers, clients

    def __enter__(self):
        try:
            self.set_up()
        except BaseException:
            self.exits.close()
            raise
        return self

    def __exit__(self, *error):
        self.exits.close()
        if error[0] is None:
            shutil.rmtree(self.root)
        else:
            print(f"kept for a look: {self.root}", flush=True)

    def set_up(self):
        for name, size in SIZES.items():
            self.exits.enter_context(file_system(self.root / name, size))
        (self.root / "store").chmod(0o777)
        self.links = Links()
        self.exits.callback(self.links.close)
        self.set_up_postgres()
        self.set_up_masters()
        self.exits.callback(self.end_all)
        threading.Thread(target=self.supervise, daemon=True).start()
        self.release(*self.masters)
        wait_until(lambda: (self.root / "token").exists() and self.espalier("user", "list", check=False).returncode == 0, "a master leads")
        self.set_up_nodes()
        self.set_up_clients()

    # PostgreSQL

    def set_up_postgres(self):
        shutil.chown(self.root / "cluster", self.owner)
        self.cluster = self.root / "cluster" / "data"
        self.as_owner(POSTGRES / "initdb", "--auth=trust", f"--username={self.owner}", "-D", self.cluster)
        self.database_port = free_port()
        self.start_postgres()
        self.exits.callback(self.stop_postgres, "immediate")
        self.database = f"host={self.root}/cluster port={self.database_port} user={self.owner} dbname=espalier"
        self.as_owner("createdb", "-h", self.root / "cluster", "-p", self.database_port, "-U", self.owner, "espalier")

    def as_owner(self, *command):
        prefix = ["runuser", "-u", self.owner, "--"] if os.geteuid() == 0 else []
        result = subprocess.run([*prefix, *map(str, command)], cwd=self.root, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, f"{command}: {result.stderr}"
        return result.stdout

    def start_postgres(self):
        self.as_owner(POSTGRES / "pg_ctl", "start", "--wait", "-D", self.cluster, "-l", self.root / "cluster" / "log", "-o",
                      f"-p {self.database_port} -k {self.root}/cluster -c listen_addresses='' -c max_wal_size=128MB -c min_wal_size=32MB")  # fmt: skip

    def stop_postgres(self, how):
        self.as_owner(POSTGRES / "pg_ctl", "stop", "--wait", "-D", self.cluster, "-m", how)

    def documented(self, program):
        """Runs the block of docs/operations.md that begins so."""
        document = "docs/operations.md"
        block = next(each for each in blocks_of(document, (ROOT / document).read_text()) if each.text.startswith(program))
        subprocess.run(["bash", "-eu", "-c", block.text], cwd=self.root, env={**os.environ, "DATABASE": self.database}, check=True,
                       capture_output=True, text=True, timeout=120)  # fmt: skip

    # Programs

    def supervise(self):
        while self.supervising:
            for each in list(self.supervised):
                each.look()
            time.sleep(0.1)

    def launch(self, name, command, environment=None, is_group=False):
        each = Supervised(name, command, self.root / f"{name}.log", environment, is_group)
        self.supervised.append(each)
        return each

    @staticmethod
    def release(*programs):
        for each in programs:
            each.held = False

    def configured(self, program, name, lines):
        file = self.root / f"{name}.txt"
        file.write_text(lines)
        return self.launch(name, lambda: [BIN / program, file])

    def set_up_masters(self):
        self.ports = [free_port(), free_port()]
        self.database_links, self.masters = [], []
        for index, port in enumerate(self.ports):
            socket = f"{self.root}/cluster/.s.PGSQL.{self.database_port}"
            link = self.links.add("127.0.0.1", 0, lambda: asyncio.open_unix_connection(socket))
            self.database_links.append(link)
            database = self.database.replace(f"host={self.root}/cluster port={self.database_port}", f"host=127.0.0.1 port={link.port}")
            self.masters.append(self.configured("espalier-master", f"master-{index}", (
                f'listen_address: "127.0.0.1:{port}"\ndatabase: "{database}"\nadministrator_token_file: "{self.root}/token"\n'
                f'local_node_token_file: "{self.root}/node-token"\nretire_after_seconds: 120\n')))  # fmt: skip
        self.address = "ipv4:" + ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def way_to_masters(self):
        """Links to both of one's own, and the address through them."""
        links = [self.links.add("127.0.0.1", 0, lambda port=port: asyncio.open_connection("127.0.0.1", port)) for port in self.ports]
        return links, "ipv4:" + ",".join(f"127.0.0.1:{link.port}" for link in links)

    def set_up_nodes(self):
        ways = [self.way_to_masters() for _ in range(GROUPS)]
        self.node_links = [links for links, _ in ways]
        chain = f'runtimes {{ name: "chain" command: ["{sys.executable}", "{HERE}/chain_worker.py"] }}'
        built_in = f'runtimes {{ name: "built-in" command: "{BIN}/espalier-worker" }}'
        self.nodes = []
        for index in range(self.server_count + 2):
            is_real = index >= self.server_count
            name = f"real-{index - self.server_count}" if is_real else f"light-{index}"
            token = self.root / f"{name}.token"
            added = self.espalier("user", "add", name, "--role", "node", "--servers", name)
            token.write_text(json.loads(added.stdout)["token"])
            self.nodes.append(self.configured("espalier-node", name, (
                f'master_address: "{ways[index % GROUPS][1]}"\nserver: "{name}"\nslot_count: 1\ncheckpoint_directory: "{self.root}/store/files"\n'
                f'work_directory: "{self.root}/work/{name}"\ntoken_file: "{token}"\n{built_in if is_real else chain}\n')))  # fmt: skip
        self.release(*self.nodes)
        wait_until(lambda: self.connected() == len(self.nodes), "all servers are connected", every=0.5)

    def connected(self):
        listed = self.espalier("server", "list", check=False)
        return sum(server["connected"] for server in json.loads(listed.stdout)) if listed.returncode == 0 else 0

    def busy_slots(self):
        return sum(server["busy_slots"] for server in json.loads(self.espalier("server", "list").stdout))

    def set_up_clients(self):
        self.stop_file = self.root / "stop"
        self.clients, self.client_links, self.tokens = [], [], {}
        for team in TEAMS:
            self.tokens[team] = json.loads(self.espalier("user", "add", team, "--team", team).stdout)["token"]
        for index in range(self.client_count):
            links, address = self.way_to_masters()
            self.client_links.append(links)
            environment = dict(os.environ, ESPALIER_TOKEN=self.tokens[TEAMS[index % len(TEAMS)]], ESPALIER_SERVER=address)
            arguments = [str(index), str(self.seed), str(self.root / f"client-{index}.journal"), str(self.stop_file)]
            client = self.launch(f"client-{index}", lambda arguments=arguments: [sys.executable, HERE / "user.py", *arguments], environment, is_group=True)
            client.ends_for_good = True
            self.clients.append(client)

    def espalier(self, *arguments, check=True, token=None):
        """A command of the administrator, or of whoever has the token, by no link."""
        token_option = [] if token else ["--token-file", str(self.root / "token")]
        environment = dict(os.environ, **({"ESPALIER_TOKEN": token} if token else {}))
        result = subprocess.run([BIN / "espalier", *map(str, arguments), "--output", "json", "--server", self.address, *token_option],
                                env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)  # fmt: skip
        assert not check or result.returncode == 0, f"{arguments}: {result.stderr}"
        return result

    def worker_of(self, node):
        """The pid of one of its workers, or None."""
        with contextlib.suppress(OSError):
            children = pathlib.Path(f"/proc/{node.process.pid}/task/{node.process.pid}/children").read_text().split()
            return int(children[0]) if children else None
        return None

    def end_all(self):
        self.supervising = False
        for each in self.supervised:
            each.send(signal.SIGCONT)
            each.hold()


@contextlib.contextmanager
def file_system(folder, size):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
