"""Workers whose programs start daemons that leave everything by which they could be found: where this user may make control groups, none of them
outlives its worker, its node manager or the service."""

import os
import re
import shlex
import signal
import unittest

from service import BIN, Service, wait_until

# A process of a session of its own, without parent, environment and open files; its id is the name of a file in the folder.
WORKER = """#!/bin/sh
(setsid /usr/bin/env -i /bin/sh -c '/bin/sleep 1000 & : > "$0/$!"' {folder} </dev/null >/dev/null 2>&1 3>&- &)
exec {bin}/espalier-fake-worker "$@"
"""
STUDY = """
study: disturbed
trainer: toy
step: 1 update
hyper_parameters: {lr: [0.1, 0.2, 0.3, 0.4], step_milliseconds: 20}
metric: {name: score, goal: max}
tuner: {grid: {steps: 200}}
"""


class WorkerGroupsTest(unittest.TestCase):
    def setUp(self):
        self.service = Service(slots=2)
        self.daemons = self.service.root / "daemons"
        self.daemons.mkdir()
        worker = self.service.write("worker.sh", WORKER.format(folder=shlex.quote(str(self.daemons)), bin=shlex.quote(str(BIN))))
        worker.chmod(0o755)
        self.service.programs["worker"] = "espalier-fake-worker"
        self.service.up_options = ["--worker", shlex.quote(str(worker))]

    def groups(self):
        """Of the node manager that runs: their folder, or why there are none."""
        log = (self.service.data / "logs/node-manager.log").read_text()
        return re.findall(r'workers have (no )?control groups of their own (?:below|reason)=("[^"]*"|\S*)', log)[-1]

    def living(self):
        return {int(path.name) for path in self.daemons.iterdir() if Service.alive(int(path.name))}

    def kill(self, role):
        """Of that role's processes, and the daemons that lived then are gone, though others have come."""
        before = wait_until(self.living, "a daemon lives")
        for pid in self.service.processes()[role]:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not before & self.living(), f"the daemons are gone of a {role} that was killed")

    def test_no_daemon_outlives_its_worker_its_node_manager_or_the_service(self):
        with self.service as service:
            why = self.groups()
            if why[0]:
                self.skipTest(why[1])
            study = service.begin("study", "run", service.write("study.yaml", STUDY))
            wait_until(lambda: len(self.living()) >= 2, "both slots have workers")
            for role in ("worker", "node"):
                self.kill(role)
            self.assertEqual(study.wait(), 0, study.stderr.read())
            self.assertTrue(self.living())
            service.stop()
            self.assertFalse(self.living())
            self.assertFalse(os.path.exists(self.groups()[1]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
