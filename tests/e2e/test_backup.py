"""The database restored from a backup, and a replica that takes over: what was stored by then is there, and nothing else is taken for it."""

import getpass
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import studies
from own_master import OwnMaster
from service import PATIENCE_SECONDS, results, wait_until
from test_two_masters import free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "documents"))
from blocks import blocks_of  # noqa: E402

VERSIONS = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))


def call(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS, **options)


class WithBackup(OwnMaster):
    """As docs/operations.md makes and restores one."""

    def back_up(self):
        self.run_shown("pg_dump")

    def restore(self):
        self.run_shown("pg_restore")

    def run_shown(self, program):
        """The document's block that calls it."""
        document = "docs/operations.md"
        block = next(each for each in blocks_of(document, (ROOT / document).read_text()) if each.text.startswith(program))
        call("bash", "-eu", "-c", block.text, cwd=self.root, env={**os.environ, "DATABASE": self.database})


class BackupTest(unittest.TestCase):
    def test_what_was_stored_by_the_backup_is_there_and_nothing_that_came_after_is_taken_for_it(self):
        with WithBackup() as service:
            first = service.write("first.yaml", studies.sha("first", "team"))
            second = service.write("second.yaml", studies.sha("second", "nobody"))
            slow = service.write("slow.yaml", SLOW)
            service.run("study", "run", first)
            kept = results(service, "first")
            service.back_up()
            service.run("study", "run", second)
            lost = results(service, "second")
            running = service.begin("study", "run", slow)
            wait_until(lambda: service.servers()[0]["busy_slots"] == 2, "the slow study trains")
            service.masters[0].kill()
            service.masters[0].wait()
            service.restore()
            service.start_master(0)
            wait_until(service.servers, "the node manager is connected")

            _, said = running.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(1, running.returncode, said)
            self.assertRegex(said, "no study|not found|there is no")
            self.assertEqual(["first"], [study["name"] for study in service.json("study", "list")])
            self.assertEqual(kept, results(service, "first"))

            # Ids are given out again, while the node manager may still have to say what became of those that were given out before.
            service.run("study", "run", second)
            self.assertEqual(lost, results(service, "second"))
            steps = service.json("study", "show", "second")["steps"]
            self.assertEqual((steps["unique"], 0), (steps["trained"], steps["wasted"]))
            self.assertEqual(0, service.run("doctor", check=False).returncode)
            self.assertIn("this service has ordered no such run", service.log(0))

            # What is gone has left states, which nobody can tell from another service's.
            found = service.json("checkpoint", "gc", "--older-than", "0", "--remove", "--store", f"{service.root}/checkpoints")
            self.assertEqual([], found["files"])
            self.assertEqual(lost, results(service, "second"))

    def test_runs_that_have_ended_since_the_backup_are_trained_again(self):
        with WithBackup() as service:
            study = service.write("slow.yaml", SLOW.replace("steps: 100", "steps: 20"))
            running = service.begin("study", "run", study)
            wait_until(lambda: service.servers()[0]["busy_slots"] == 2, "the study trains")
            service.back_up()
            _, said = running.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(0, running.returncode, said)
            before = results(service, "slow")
            service.masters[0].kill()
            service.masters[0].wait()
            service.restore()
            service.start_master(0)
            wait_until(service.servers, "the node manager is connected")
            service.run("study", "run", study)  # which is running again
            self.assertEqual(before, results(service, "slow"))
            self.assertEqual(["slow"], [study["name"] for study in service.json("study", "list")])


class Replicated(OwnMaster):
    """On a primary of PostgreSQL and a replica that has each commit before it counts, as docs/operations.md sets them up."""

    def prepare(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="espalier-postgres-"))  # without a blank, for connection strings
        self.owner = "postgres" if os.geteuid() == 0 else getpass.getuser()
        if os.geteuid() == 0:
            shutil.chown(self.home, self.owner)
        self.port_of = {"primary": free_port(), "replica": free_port()}
        self.as_owner(VERSIONS[-1] / "initdb", "--auth=trust", f"--username={self.owner}", "-D", self.home / "primary")
        self.start_postgres("primary")
        self.as_owner(VERSIONS[-1] / "pg_basebackup", "--write-recovery-conf", f"--host={self.home}", f"--port={self.port_of['primary']}",
                      f"--username={self.owner}", f"--pgdata={self.home}/replica")
        self.start_postgres("replica")
        primary = f"host={self.home} port={self.port_of['primary']} user={self.owner} dbname=postgres"
        self.psql(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.psql(primary, "SELECT pg_reload_conf()")
        self.psql(primary, "CREATE DATABASE hpo")
        self.database = (f"host={self.home},{self.home} port={self.port_of['primary']},{self.port_of['replica']} user={self.owner} "
                         "dbname=hpo target_session_attrs=read-write")

    def as_owner(self, *command):
        return call(*(["runuser", "-u", self.owner, "--"] if os.geteuid() == 0 else []), *command, cwd=self.home)

    def start_postgres(self, name):
        """And waits until it takes connections."""
        self.as_owner(VERSIONS[-1] / "pg_ctl", "start", "--wait", "-D", self.home / name, "-l", self.home / f"{name}.log",
                      "-o", f"-p {self.port_of[name]} -k {self.home} -c listen_addresses=''")

    def stop_postgres(self, name, how):
        self.as_owner(VERSIONS[-1] / "pg_ctl", "stop", "--wait", "-D", self.home / name, "-m", how)

    def __exit__(self, *error):
        try:
            super().__exit__(*error)
        finally:
            for name in self.port_of:
                if (self.home / name / "postmaster.pid").exists():
                    self.stop_postgres(name, "immediate")
            shutil.rmtree(self.home)


class ReplicaTest(unittest.TestCase):
    def test_a_replica_that_takes_over_has_all_that_was_acknowledged(self):
        with Replicated() as service:
            service.run("study", "run", service.write("first.yaml", studies.sha("first", "team")))
            running = service.begin("study", "run", service.write("slow.yaml", SLOW))
            wait_until(lambda: service.servers()[0]["busy_slots"] == 2, "the slow study trains")
            service.stop_postgres("primary", "immediate")
            service.as_owner(VERSIONS[-1] / "pg_ctl", "promote", "--wait", "-D", service.home / "replica")
            _, said = running.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(0, running.returncode, said)
            shown = service.json("study", "show", "slow")
            self.assertEqual("finished", shown["state"])
            self.assertEqual((shown["steps"]["unique"], 0), (shown["steps"]["trained"], shown["steps"]["wasted"]))
            self.assertEqual(["slow", "first"], [study["name"] for study in service.json("study", "list")])


SLOW = """study: slow
trainer: synthetic
hyper_parameters:
  lr: [0.1, 0.01]
  step_seconds: 0.1
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 100}}
share: nobody
"""

if __name__ == "__main__":
    unittest.main()
