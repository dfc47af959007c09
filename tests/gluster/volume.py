"""A GlusterFS volume for tests: real servers, each in a network namespace of its own, on one bridge with whoever uses it.
REQUIRES: tests/with_gluster.sh runs this; its namespaces end all that is started here."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree

NAME = "checkpoints"
NETWORK = "10.71.0."
PATIENCE_SECONDS = 120

# What glusterd keeps goes into the server's folder; what it has in memory, and the brick, into memory.
SERVER = """
set -e
cd "$1"
mkdir state log brick
mount --bind state /var/lib/glusterd
mount --bind log /var/log/glusterfs
mount -t tmpfs tmpfs brick
mount -t tmpfs tmpfs /run
mkdir /run/gluster
exec glusterd --no-daemon
"""


def run(*command):
    """Runs a command, and gives back what it says. Raises with what it said if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def wait_until(condition, what):
    """Polls until `condition()` is true; fails after a long time, naming `what`. What it raises meanwhile counts as not yet."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        asked = time.monotonic()
        try:
            if condition():
                return
            reason = ""
        except RuntimeError as error:
            reason = f": {error}"
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain until {what}{reason}")
        time.sleep(max(0.05, min(3 * (time.monotonic() - asked), 0.25)))


class Server:
    """One machine: glusterd, and a brick. Its network interface hangs on the bridge by a cable that can be pulled."""

    def __init__(self, number, root):
        self.name = f"server-{number}"
        self.address = f"{NETWORK}{number}"
        self.folder = root / self.name
        self.folder.mkdir()
        self.brick = f"{self.folder}/brick/of-the-volume"
        self.cable = f"cable-{number}"
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.cable, "master", "bridge", "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "link", "set", self.cable, "up")
        for command in (["link", "set", "lo", "up"], ["address", "add", f"{self.address}/24", "dev", "eth0"],
                        ["link", "set", "eth0", "up"]):
            run("ip", "-n", self.name, *command)
        self.glusterd = subprocess.Popen(["ip", "netns", "exec", self.name, "sh", "-c", SERVER, "sh", self.folder],
                                         stdin=subprocess.DEVNULL)

    def within(self, *command):
        """A command that is run on this machine."""
        return ["nsenter", "-t", str(self.glusterd.pid), "-m", "-n", *command]

    def gluster(self, *command):
        return run(*self.within("gluster", "--mode=script", *command))

    def gluster_xml(self, *command):
        return ElementTree.fromstring(self.gluster("--xml", *command))

    def files(self):
        """What is on the brick, as {path: content}, without GlusterFS's own."""
        # Its mounts are seen through its process.
        brick = pathlib.Path(f"/proc/{self.glusterd.pid}/root{self.brick}")
        return {str(file.relative_to(brick)): file.read_bytes() for file in brick.rglob("*")
                if file.is_file() and ".glusterfs" not in file.parts}

    def stop(self):
        """Everything that runs on this machine, and the machine."""
        for pid in run("ip", "netns", "pids", self.name).split():
            os.kill(int(pid), signal.SIGKILL)
        self.glusterd.wait()
        wait_until(lambda: not run("ip", "netns", "pids", self.name).split(), f"nothing runs on {self.name}")
        # What is in a namespace the kernel removes at its leisure, and the next volume has a cable of that name.
        run("ip", "link", "delete", self.cable)
        run("ip", "netns", "delete", self.name)

    def cut_off(self):
        run("ip", "link", "set", self.cable, "down")

    def connect(self):
        run("ip", "link", "set", self.cable, "up")


class Volume:
    """Of one brick; or, of three servers, replica 2 with an arbiter: the third keeps names and versions, no content. One at a time. Use as a
    context manager."""

    def __init__(self, server_count=1, options=None):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="espalier-gluster-"))
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "address", "add", f"{NETWORK}254/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")
        self.servers = [Server(number, self.root) for number in range(1, server_count + 1)]
        for server in self.servers:
            wait_until(lambda server=server: server.gluster("pool", "list"), f"{server.name} answers")
        first = self.servers[0]
        for server in self.servers[1:]:
            first.gluster("peer", "probe", server.address)
        for server in self.servers:
            wait_until(lambda server=server: server.gluster("peer", "status").count("Peer in Cluster (Connected)") == server_count - 1,
                       f"{server.name} knows its peers")
        kind = ["replica", "3", "arbiter", "1"] if server_count == 3 else []
        first.gluster("volume", "create", NAME, *kind, *(f"{server.address}:{server.brick}" for server in self.servers), "force")
        for name, value in (options or {}).items():
            first.gluster("volume", "set", NAME, name, value)
        first.gluster("volume", "start", NAME)
        self.wait_until_online()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for server in self.servers:
            server.stop()
        run("ip", "link", "delete", "bridge")
        shutil.rmtree(self.root)

    @property
    def location(self):
        return f"gfapi://{','.join(server.address for server in self.servers)}/{NAME}"

    def wait_until_online(self):
        def all_online():
            nodes = self.servers[0].gluster_xml("volume", "status", NAME).iter("node")
            bricks = [node for node in nodes if node.findtext("path") in {server.brick for server in self.servers}]
            return len(bricks) == len(self.servers) and all(node.findtext("status") == "1" for node in bricks)
        wait_until(all_online, "all bricks are online")

    def wait_until_healed(self):
        """Every brick can be reached, and has what it missed."""
        def healed():
            bricks = list(self.servers[0].gluster_xml("volume", "heal", NAME, "info").iter("brick"))
            return len(bricks) == len(self.servers) and all(
                brick.findtext("status") == "Connected" and brick.findtext("numberOfEntries") == "0" for brick in bricks)
        wait_until(healed, "the volume is healed")
