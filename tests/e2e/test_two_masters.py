"""One master leads, others stand by: when it is killed or frozen another goes on, and what the frozen one still had in hand
when it thaws changes nothing."""

import re
import signal
import socket
import subprocess
import threading
import time
import unittest

import studies
from service import BIN, PATIENCE_SECONDS, Service, results, wait_until


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Link:
    """A way to the socket of the database by TCP. While it is cut nothing passes, and neither end is told."""

    def __init__(self, target):
        self.target = target
        self.sockets = []
        self.dropped = 0  # so many callers to come are turned away
        self.passes = threading.Event()
        self.passes.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return  # closed
            self.passes.wait()
            if self.dropped > 0:
                self.dropped -= 1
                caller.close()
                continue
            database = socket.socket(socket.AF_UNIX)
            self.sockets += [caller, database]
            if database.connect_ex(self.target) != 0:
                caller.close()
                continue
            for source, sink in ((caller, database), (database, caller)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    def carry(self, source, sink):
        try:
            while data := source.recv(1 << 16):
                self.passes.wait()
                sink.sendall(data)
            self.passes.wait()
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one end is gone

    def close(self):
        self.passes.set()
        self.listener.shutdown(socket.SHUT_RDWR)  # which ends accept()
        for each in [self.listener, *self.sockets]:
            each.close()


class Masters(Service):
    """Two masters with ports of their own and one node manager, on a database beside the service's own."""

    def __enter__(self):
        super().__enter__()
        database = re.search(r'database: "([^"]*)"', (self.data / "config" / "master.txt").read_text()).group(1)
        self.psql(database, "CREATE DATABASE two_masters")
        self.database = re.sub(r"dbname=\S+", "dbname=two_masters", database)
        assert self.database != database
        self.ports = [free_port(), free_port()]
        self.address = "ipv4:" + ",".join(f"127.0.0.1:{port}" for port in self.ports)
        self.masters = [None, None]
        self.node = None
        folder, port = (re.search(rf"{name}=(\S+)", database).group(1) for name in ("host", "port"))
        self.link = Link(f"{folder}/.s.PGSQL.{port}")  # of the first master
        return self

    def __exit__(self, *error):
        for process in [self.node, *self.masters]:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate() if error[0] is None else process.kill()
                process.wait(timeout=PATIENCE_SECONDS)
        self.link.close()
        super().__exit__(*error)

    def command(self, *arguments):
        shared = any(getattr(self, "masters", []))
        return super().command(*arguments) + (
            ["--server", self.address, "--token-file", str(self.root / "token")] if shared else [])

    @staticmethod
    def psql(database, statement):
        return subprocess.run(["psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statement],
                              check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout.strip()

    def launch(self, program, name, configuration):
        config = self.write(f"{name}.txt", configuration)
        with open(self.root / f"{name}.log", "ab") as log:
            return subprocess.Popen([BIN / program, config], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start_master(self, index):
        database = self.database
        if index == 0:
            database = re.sub(r"port=\S+", f"port={self.link.port}", re.sub(r"host=\S+", "host=127.0.0.1", database))
        self.masters[index] = self.launch(
            "espalier-master", f"master-{index}",
            f'listen_address: "127.0.0.1:{self.ports[index]}"\ndatabase: "{database}"\n'
            f'administrator_token_file: "{self.root}/token"\nlocal_node_token_file: "{self.root}/node-token"\n')

    def start_node(self):
        self.node = self.launch(
            "espalier-node", "node",
            f'master_address: "{self.address}"\nserver: "local"\nslot_count: 2\n'
            f'checkpoint_directory: "{self.root}/checkpoints"\nwork_directory: "{self.root}/node"\n'
            f'runtimes {{ name: "built-in" command: "{BIN}/espalier-worker" }}\ntoken_file: "{self.root}/node-token"\n')
        wait_until(self.servers, "the node manager is connected")

    def listens(self, index):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.ports[index])) == 0

    def log(self, index):
        return (self.root / f"master-{index}.log").read_text()

    def epoch(self):
        return int(self.psql(self.database, "SELECT epoch FROM leadership"))


class TwoMastersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Service() as service:
            service.run("study", "run", service.write("study.yaml", studies.sha("undisturbed")))
            cls.expected = results(service, "undisturbed")

    def begin(self, service):
        """The first master leads, the second waits, a study is under way."""
        service.start_master(0)
        wait_until(lambda: "listening" in service.log(0), "the first master leads")
        service.start_master(1)
        wait_until(lambda: "waiting while another master leads" in service.log(1), "the second master waits")
        self.assertNotIn("listening", service.log(1))
        service.start_node()
        run = service.begin("study", "run", service.write("study.yaml", studies.sha("two")))
        wait_until(lambda: service.run("trial", "list", "two", check=False).returncode == 0 and
                   any(t["steps"] for t in service.json("trial", "list", "two")), "the study has trained something")
        return run

    def begin_alone(self, service, index):
        """One master leads, nobody waits, a study is under way."""
        service.start_master(index)
        wait_until(lambda: "listening" in service.log(index), "the master leads")
        service.start_node()
        run = service.begin("study", "run", service.write("study.yaml", studies.sha("two")))
        wait_until(lambda: "run started" in service.log(index), "the study is under way")
        return run

    def check_taken_over(self, service, since):
        wait_until(lambda: service.epoch() == 2, "the second master leads")
        print(f"taken over after {time.monotonic() - since:.1f} s", flush=True)

    def check_study(self, service, run):
        _, errors = run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0, errors)
        self.assertEqual(results(service, "two"), self.expected)
        steps = service.json("study", "show", "two")["steps"]
        self.assertEqual(steps["wasted"], 0)
        self.assertEqual(steps["trained"] - steps["re_derived"], steps["unique"])

    def test_the_second_goes_on_when_the_first_is_killed(self):
        with Masters() as service:
            run = self.begin(service)
            service.masters[0].kill()
            self.check_taken_over(service, time.monotonic())
            self.check_study(service, run)

    def test_the_second_goes_on_when_the_first_is_frozen_and_the_thawed_one_writes_nothing_and_ends(self):
        with Masters() as service:
            run = self.begin(service)
            service.masters[0].send_signal(signal.SIGSTOP)
            self.check_taken_over(service, time.monotonic())
            self.check_study(service, run)
            service.masters[0].send_signal(signal.SIGCONT)
            self.assertEqual(service.masters[0].wait(timeout=PATIENCE_SECONDS), 1)
            self.assertEqual(service.epoch(), 2)
            self.assertIsNone(service.masters[1].poll())
            self.assertEqual(results(service, "two"), self.expected)

    def test_a_master_that_is_cut_off_from_the_database_closes_and_ends_once_it_sees_who_leads(self):
        with Masters() as service:
            run = self.begin(service)
            service.link.passes.clear()
            since = time.monotonic()
            wait_until(lambda: not service.listens(0), "the first master has closed")
            print(f"closed after {time.monotonic() - since:.1f} s", flush=True)
            self.check_taken_over(service, since)
            self.check_study(service, run)
            self.assertIsNone(service.masters[0].poll())
            service.link.passes.set()
            self.assertEqual(service.masters[0].wait(timeout=PATIENCE_SECONDS), 1)
            self.assertEqual(service.epoch(), 2)
            self.assertEqual(results(service, "two"), self.expected)

    def test_a_lonely_master_that_was_cut_off_from_the_database_serves_again(self):
        with Masters() as service:
            run = self.begin_alone(service, 0)
            service.link.passes.clear()
            wait_until(lambda: not service.listens(0), "the master has closed")
            service.link.passes.set()
            wait_until(lambda: service.listens(0), "it serves again")
            self.check_study(service, run)
            self.assertEqual(service.epoch(), 1)

    def test_a_lonely_master_that_was_frozen_for_longer_than_a_lease_loses_nothing(self):
        with Masters() as service:
            run = self.begin_alone(service, 1)
            service.masters[1].send_signal(signal.SIGSTOP)
            time.sleep(14)  # the freeze itself; nothing waits for it
            service.masters[1].send_signal(signal.SIGCONT)
            self.check_study(service, run)
            self.assertEqual(service.epoch(), 1)
            self.assertEqual(0, service.json("study", "show", "two")["steps"]["re_derived"])
            self.assertNotIn("run lost", service.log(1))

    def test_masters_wait_for_a_database_that_is_away_one_that_starts_meanwhile_too(self):
        with Masters() as service:
            run = self.begin(service)
            service.kill("up")  # and the database with it
            wait_until(lambda: "waiting for the database" in service.log(1), "the second master waits for the database")
            service.masters[0].kill()
            service.masters[0].wait()
            service.start_master(0)
            wait_until(lambda: "waiting for the database" in service.log(0), "the first one starts, and waits, too")
            service.start()
            self.check_study(service, run)
            self.assertEqual([None, None], [master.poll() for master in service.masters])

    def test_a_master_waits_though_the_database_is_there_again_just_after_its_attempt(self):
        with Masters() as service:
            service.link.dropped = 1
            service.start_master(0)
            wait_until(lambda: "state loaded" in service.log(0), "the master leads")
            self.assertIn("waiting for the database", service.log(0))

    def test_a_master_that_leads_no_longer_ends_though_it_has_nothing_to_write(self):
        with Masters() as service:
            service.start_master(0)
            wait_until(lambda: "state loaded" in service.log(0), "the master leads")
            service.psql(service.database, "UPDATE leadership SET epoch = epoch + 1")
            self.assertEqual(service.masters[0].wait(timeout=PATIENCE_SECONDS), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
