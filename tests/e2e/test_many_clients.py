"""Many clients at once, a process each, of one service whose master is killed in the middle: every one ends with the right results.
`./check --long` has ESPALIER_CLIENTS=50 and ESPALIER_TRIALS=10000, of all together."""

import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import one_of_many
from one_of_many import es
from service import PATIENCE_SECONDS, Service, wait_until

CLIENTS = int(os.environ.get("ESPALIER_CLIENTS", "10"))
TRIALS = int(os.environ.get("ESPALIER_TRIALS", "1000"))


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


class ManyClientsTest(unittest.TestCase):
    def test_all_end_with_the_right_results_though_the_master_is_killed_meanwhile(self):
        with Service() as service, es.connect(data=service.data) as client:
            full = one_of_many.study(client, "full").submit({"curve_rate": 1.0}, steps=1).result(PATIENCE_SECONDS)["test_acc"]
            (master,) = service.processes()["master"]
            before, started = resident_bytes(master), time.monotonic()
            each = TRIALS // CLIENTS
            clients = [subprocess.Popen([sys.executable, one_of_many.__file__, str(index), str(each), repr(full)], env=service.environment(),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for index in range(CLIENTS)]  # fmt: skip
            wait_until(lambda: done(client) >= TRIALS / 3, "a third of the trials are done")
            self.assertLess(done(client), TRIALS)
            service.kill("master")
            outcomes = [(*process.communicate(), process.returncode) for process in clients]
            seconds = time.monotonic() - started
            for said, errors, code in outcomes:
                self.assertEqual(code, 0, errors)
                self.assertEqual(json.loads(said)["wrong"], [])
                self.assertEqual(json.loads(said)["trials"], each)
            self.assertEqual(done(client), each * CLIENTS)
            (master,) = service.processes()["master"]
            of_client = max(json.loads(said)["bytes_per_trial"] for said, _, _ in outcomes)
            print(f"\n{CLIENTS} clients, {each * CLIENTS} trials: {seconds:.1f} s; a trial takes {of_client / 1000:.1f} kB of its client, "
                  f"{(resident_bytes(master) - before) / TRIALS / 1000:.1f} kB of the master", flush=True)  # fmt: skip


def done(client):
    return sum(listed.trials.get("done", 0) for listed in client.studies() if listed.name.startswith("client "))


if __name__ == "__main__":
    unittest.main(verbosity=2)
