"""The unit files of deploy/systemd, in a systemd of their own (in_systemd.sh): a study goes on over `systemctl stop` and `start` of its
server without a step trained again, and over kills of both services."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import studies
from service import BIN, wait_until
from test_two_masters import free_port

HERE = pathlib.Path(__file__).resolve().parent
UNITS = HERE.parents[1] / "deploy/systemd"
USER = "postgres"  # an ordinary user whom the machine has
UNIT_OF_TEST = """
[Unit]
Description=The test
[Service]
Type=oneshot
TimeoutStartSec=900
Environment=ESPALIER_BIN={bin}
WorkingDirectory={here}
ExecStart="{python}" "{here}/test_systemd.py" inside "{folder}"
ExecStopPost=/bin/sh -c 'systemctl poweroff --force --force'
"""


class SystemdTest(unittest.TestCase):
    def test_a_study_goes_on_over_stops_and_kills_of_the_units(self):
        with tempfile.TemporaryDirectory(prefix="espalier systemd ") as name:
            folder, units = pathlib.Path(name), pathlib.Path(name) / "units"
            folder.chmod(0o755)
            shutil.copytree(UNITS, units)
            (units / "test.service").write_text(UNIT_OF_TEST.format(bin=BIN, here=HERE, python=sys.executable, folder=folder))
            with open(folder / "log", "w") as log:
                done = subprocess.run([HERE / "in_systemd.sh", units, "test.service"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            if done.returncode == 77:
                self.skipTest((folder / "log").read_text())
            said = folder / "said"
            self.assertTrue((folder / "passed").exists(), (said.read_text() if said.exists() else "") + (folder / "log").read_text()[-4000:])


class Inside:
    """The test itself, as a unit of that systemd."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()

    def systemctl(self, *arguments):
        return subprocess.run(["systemctl", *arguments], check=True, capture_output=True, text=True).stdout.strip()

    def start_all(self):
        for each in ("postgres", "node", "checkpoints", "master"):
            (self.folder / each).mkdir()
            shutil.chown(self.folder / each, USER)
        programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        database, socket = self.folder / "postgres/data", self.folder / "postgres"
        subprocess.run(["runuser", "-u", USER, "--", programs / "initdb", "-A", "trust", "-D", database], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["systemd-run", "--unit=database", f"--property=User={USER}", "--property=KillSignal=SIGINT", programs / "postgres", "-D", database,
                        "-c", "listen_addresses=", "-c", f"unix_socket_directories={socket}"], check=True)  # fmt: skip
        url = f"host='{socket}' user={USER} dbname=postgres"
        wait_until(lambda: subprocess.run([programs / "psql", "-d", url, "-c", "SELECT 1"], capture_output=True).returncode == 0, "PostgreSQL answers")
        (self.folder / "master.txt").write_text(f'listen_address: "127.0.0.1:{self.port}"\ndatabase: "{url}"\nadministrator_token_file: "{self.folder}/master/token"\n'
                                                f'local_node_token_file: "{self.folder}/master/node-token"\n')
        (self.folder / "node.txt").write_text(
            f'master_address: "ipv4:127.0.0.1:{self.port}"\nserver: "local"\nslot_count: 2\ncheckpoint_directory: "{self.folder}/checkpoints"\n'
            f'work_directory: "{self.folder}/node/work"\ntoken_file: "{self.folder}/master/node-token"\nstop_seconds: 600\n'
            f'runtimes {{ name: "built-in" command: "{BIN}/espalier-worker" }}\n')
        # As an installation would differ: who runs it, and where things are.
        for unit in ("master", "node"):
            place = pathlib.Path(f"/run/systemd/system/espalier-{unit}.service.d")
            place.mkdir()
            program = f'"{BIN}/espalier-{unit}" "{self.folder}/{unit}.txt"'
            (place / "here.conf").write_text(f"[Service]\nUser={USER}\nExecStart=\nExecStart={program}\n")
        self.systemctl("daemon-reload")
        self.systemctl("start", "espalier-master", "espalier-node")
        wait_until(lambda: [each for each in self.json("server", "list") or [] if each["connected"]], "the server is connected")

    def command(self, *arguments):
        return [BIN / "espalier", *arguments, "--output", "json", "--server", f"ipv4:127.0.0.1:{self.port}", "--token-file", self.folder / "master/token"]

    def json(self, *arguments):
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def begin(self, name):
        file = self.folder / f"{name}.yaml"
        file.write_text(studies.sha(name, updates=300))
        return subprocess.Popen(self.command("study", "run", file), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def trained(self, study, steps):
        def count():
            shown = self.json("study", "show", study)
            return shown["steps"]["trained"] if shown else 0

        wait_until(lambda: count() >= steps, f"{steps} steps are trained")

    def finish(self, running):
        errors = running.communicate()[1]
        assert running.returncode == 0, errors

    def results(self, study):
        trials = self.json("trial", "list", study)
        return sorted(json.dumps([t["sequences"], t["state"], t["steps"], t["metric"], t["state_sha256"]], sort_keys=True) for t in trials)

    def check_groups(self):
        """Of the ordinary user's node manager: the unit lets it make some, where they are of the second version."""
        if " - cgroup2 " not in pathlib.Path("/proc/self/mountinfo").read_text():
            return
        for pid in subprocess.run(["pgrep", "-x", "espalier-worker"], capture_output=True, text=True).stdout.split():
            group = pathlib.Path(f"/proc/{pid}/cgroup").read_text()
            assert re.search(r"^0::.*/espalier-node\.service/espalier-node-[-\w]+/worker-\d+$", group, re.MULTILINE), group

    def run(self):
        self.start_all()
        self.finish(self.begin("undisturbed"))

        stopped = self.begin("stopped")
        self.trained("stopped", 5)
        self.check_groups()
        self.systemctl("stop", "espalier-node")
        result = self.systemctl("show", "espalier-node", "--property=Result,ExecMainStatus")
        assert result.split() == ["Result=success", "ExecMainStatus=0"], result
        assert not subprocess.run(["pgrep", "-x", "espalier-worker"]).returncode == 0, "a worker outlived the unit"
        self.systemctl("start", "espalier-node")
        self.finish(stopped)
        assert self.results("stopped") == self.results("undisturbed")
        steps = self.json("study", "show", "stopped")["steps"]
        assert steps["re_derived"] == 0 and steps["wasted"] == 0, steps

        killed = self.begin("killed")
        for unit, reached in (("espalier-node", 5), ("espalier-master", 12)):
            self.trained("killed", reached)
            self.systemctl("kill", "--signal=SIGKILL", unit)
        self.finish(killed)
        assert self.results("killed") == self.results("undisturbed")
        self.systemctl("stop", "espalier-node", "espalier-master", "database")


if __name__ == "__main__":
    if sys.argv[1:2] == ["inside"]:
        folder = pathlib.Path(sys.argv[2])
        sys.stdout = sys.stderr = open(folder / "said", "w", buffering=1)
        Inside(folder).run()
        (folder / "passed").touch()
    else:
        unittest.main(verbosity=2)
