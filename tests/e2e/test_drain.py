"""A server that an administrator takes out of service in the midst of a study: its runs leave, the study goes on elsewhere with the
same result, and it stays out of service, through kills of the master and restarts of its node manager, until it is used again."""

import os
import re
import signal
import subprocess
import unittest

import studies
from service import BUILT_IN, PATIENCE_SECONDS, Service, results, wait_until

LEARNING_RATES = ["0.1", "MultiStep(0.1, [20], gamma=0.1)", "Exponential(0.1, 0.9)", "0.2", "0.05", "0.02"]
SLOW = 600  # updates a step: long enough to act while a run is under way


def study(name):
    return studies.grid(name, LEARNING_RATES, 30, updates=SLOW)


class TwoServers(Service):
    """The service's own server, and a second one, `other`, of one slot each."""

    def __init__(self):
        super().__init__(slots=1)
        self.other = None

    def start(self):
        super().start()
        self.start_other()

    def stop(self):
        self.stop_other()
        super().stop()

    def start_other(self):
        self.other = self.launch_node("other", BUILT_IN, folder="other")
        wait_until(lambda: self.server("other").get("connected"), "the other server is connected")

    def stop_other(self):
        self.other.send_signal(signal.SIGTERM)
        assert self.other.wait(timeout=PATIENCE_SECONDS) == 0, (self.root / "other.log").read_text()

    def roots(self):
        return [self.up.pid, self.other.pid]

    def server(self, name):
        """As `server list` shows it; nothing while nobody answers."""
        listed = self.run("server", "list", check=False)
        return next((each for each in (listed.returncode == 0 and self.json("server", "list")) or [] if each["name"] == name), {})

    def workers_of_other(self):
        children = subprocess.run(["ps", "--no-headers", "-o", "pid", "--ppid", str(self.other.pid)], capture_output=True,
                                  text=True, check=False)
        return children.stdout.split()

    def trained(self, name):
        return self.json("study", "show", name)["steps"]["trained"]


class DrainTest(unittest.TestCase):
    def test_a_study_goes_on_without_a_server_that_is_drained_and_with_it_once_it_is_used_again(self):
        with Service() as alone:
            alone.run("study", "run", alone.write("undisturbed.yaml", study("undisturbed")))
            expected = results(alone, "undisturbed")
        with TwoServers() as service:
            run = service.begin("study", "run", service.write("drained.yaml", study("drained")))
            wait_until(lambda: service.server("other").get("busy_slots") == 1 and service.trained("drained") > 2,
                       "the other server trains")
            self.assertTrue(service.workers_of_other())
            told = service.json("server", "drain", "other", "--why", "new disk")
            self.assertEqual((told["name"], told["draining"]), ("other", True))
            wait_until(lambda: service.server("other")["state"] == "drained", "its run has left it")
            self.check_out_of_service(service)
            wait_until(lambda: not service.workers_of_other(), "its worker has ended")

            service.kill("master")
            wait_until(lambda: service.server("other").get("connected"), "a new master knows it")
            self.check_out_of_service(service)
            service.stop_other()
            service.start_other()
            self.check_out_of_service(service)
            goal = service.trained("drained") + 5
            wait_until(lambda: service.trained("drained") >= goal, "the study goes on with the first server")
            self.check_out_of_service(service)

            self.assertIsNone(run.poll(), "the study ended before the other server was used again")
            service.run("server", "drain", "other", "--off")
            wait_until(lambda: service.server("other")["busy_slots"] == 1, "the other server trains again")
            self.assertEqual((service.server("other")["state"], service.server("other")["drain"]), ("connected", None))
            _, errors = run.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(run.returncode, 0, errors)
            self.assertEqual(results(service, "drained"), expected)
            steps = service.json("study", "show", "drained")["steps"]
            self.assertEqual((steps["wasted"], steps["re_derived"], steps["trained"]), (0, 0, steps["unique"]))

    def check_out_of_service(self, service):
        other = service.server("other")
        self.assertEqual((other["state"], other["draining"], other["busy_slots"], other["runs_under_way"]),
                         ("drained", True, 0, 0))
        self.assertEqual((other["drain"]["by"], other["drain"]["why"]), ("local", "new disk"))

    def test_only_an_administrator_drains_a_server_and_only_one_that_there_is(self):
        with Service(slots=1) as service:
            (server,) = (each["name"] for each in service.servers())
            token = service.json("user", "add", "ann", "--team", "vision")["token"]
            refused = subprocess.run(service.command("server", "drain", server), capture_output=True, text=True,
                                     env=dict(service.environment(), ESPALIER_TOKEN=token), timeout=PATIENCE_SECONDS, check=False)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn("only an administrator may do that, and ann is none", refused.stderr)
            unknown = service.run("server", "drain", "sever", check=False)
            self.assertEqual((unknown.returncode, unknown.stdout), (1, ""))
            self.assertIn("there is no server 'sever'; `espalier server list` shows those that there are", unknown.stderr)
            self.assertEqual([(each["name"], each["state"], each["drain"]) for each in service.json("server", "list")],
                             [(server, "connected", None)])
            service.run("server", "drain", server)
            self.assertRegex(service.text("server", "list"), rf"{re.escape(server)} +drained .*\n{re.escape(server)} is drained by local, for \d")

    def test_administrators_read_what_a_server_logs_over_restarts_and_when_it_is_gone(self):
        with TwoServers() as service:
            def starts():
                return re.findall(r"node manager started server=other incarnation=([-\w]+) ", service.text("server", "logs", "other"))
            wait_until(lambda: len(starts()) == 1, "the first node manager's log has come")
            first = starts()[0]
            service.stop_other()
            service.start_other()
            wait_until(lambda: len(starts()) == 2, "the second one's has come behind it")
            self.assertEqual(starts()[0], first)
            pieces = service.json("server", "logs", "other")
            self.assertEqual([piece["incarnation"] for piece in pieces if piece["position"] == 0], starts())
            service.stop_other()
            self.assertEqual(len(starts()), 2)
            own = next(each["name"] for each in service.servers() if each["name"] != "other")
            self.assertNotIn("server=other", service.text("server", "logs", own))
            service.start_other()

            last = service.text("server", "logs", "other", "--lines", "1")
            self.assertEqual(last.count("\n"), 1)
            wrong = service.run("server", "logs", "other", "--lines", "0", check=False)
            self.assertEqual(wrong.returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
