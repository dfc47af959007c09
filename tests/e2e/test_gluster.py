"""Checkpoints in a GlusterFS volume, replica 2 and an arbiter: three servers in network namespaces of their own, the service in a fourth.
Each server is cut off while a study runs, and connected again: nothing is lost, and nothing is wrong."""

import hashlib
import json
import pathlib
import sys
import unittest

from service import Service, results, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "gluster"))
from volume import Volume  # noqa: E402

# One trunk, from which two trials part at every other step: 26 trials, 392 steps, and states to keep all the way down.
STUDY = """
study: {name}
trainer: synthetic
hyper_parameters:
  a: [{ways}]
  state_bytes: 200000
  step_seconds: {step_seconds}
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: 28}}}}
share: study
"""
WAYS = ", ".join(f'"Piecewise([0, {value}], [{step}])"' for step in range(2, 28, 2) for value in (1, 2))
STATES_MEANWHILE = 3  # that come into the volume while a server is cut off
# A server that does not answer is given up after so long: nothing is written meanwhile.
OPTIONS = {"network.ping-timeout": "3", "cluster.heal-timeout": "5"}


def write_study(service, name, step_seconds):
    return service.write(f"{name}.yaml", STUDY.format(name=name, ways=WAYS, step_seconds=step_seconds))


def by_trained_sequences(service, study):
    """The results by what decides a state: how long a step takes does not."""
    def key(sequences):
        return json.dumps({name: text for name, text in json.loads(sequences).items() if name != "step_seconds"}, sort_keys=True)
    return {key(sequences): result for sequences, result in results(service, study).items()}


def checkpoints_in(volume):
    return ("--checkpoints", f"{volume.location}/of/espalier")


def digests(files):
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def checkpoints(server):
    return {name for name in server.files() if not name.endswith(".tmp")}


class GlusterTest(unittest.TestCase):
    def test_every_server_of_the_volume_may_be_cut_off_while_a_study_runs(self):
        with Service() as service:
            service.run("study", "run", write_study(service, "undisturbed", 0))
            expected = by_trained_sequences(service, "undisturbed")

        with Volume(server_count=3, options=OPTIONS) as volume, Service(up_options=checkpoints_in(volume)) as service:
            run = service.begin("study", "run", write_study(service, "disturbed", 0.6))
            for server in volume.servers:
                reachable = next(other for other in volume.servers if other is not server)
                before = checkpoints(reachable)
                server.cut_off()
                wait_until(lambda: len(checkpoints(reachable) - before) >= STATES_MEANWHILE or run.poll() is not None,
                           f"states come into the volume without {server.name}")
                self.assertIsNone(run.poll(), f"the study ended before {server.name} was connected again")
                self.assertFalse(checkpoints(reachable) - before <= checkpoints(server), f"{server.name} was not cut off")
                server.connect()
                volume.wait_until_healed()
            self.assertIsNone(run.poll(), "the study ended before all servers had been cut off")
            _, errors = run.communicate(timeout=600)
            self.assertEqual(run.returncode, 0, errors)

            self.assertEqual(by_trained_sequences(service, "disturbed"), expected)
            steps = service.json("study", "show", "disturbed")["steps"]
            self.assertEqual(steps["trained"], steps["unique"])
            self.assertEqual((steps["wasted"], steps["re_derived"]), (0, 0))
            first, second, arbiter = (server.files() for server in volume.servers)
            self.assertEqual(digests(first), digests(second))
            self.assertEqual(set(first), set(arbiter))
            self.assertFalse([name for name in first if name.endswith(".tmp")])

    def test_a_node_manager_that_starts_while_a_server_is_away_asks_the_next_and_reads_what_is_stored(self):
        with Volume(server_count=3, options=OPTIONS) as volume, Service(up_options=checkpoints_in(volume)) as service:
            service.run("study", "run", write_study(service, "first", 0))
            volume.servers[0].cut_off()
            service.kill("node")
            for trial in service.json("trial", "list", "first")[:3]:
                service.run("trial", "extend", trial["id"], "--steps", 32)
            steps = service.json("study", "show", "first")["steps"]
            self.assertEqual((steps["wasted"], steps["re_derived"]), (0, 0))
            volume.servers[0].connect()
            volume.wait_until_healed()


if __name__ == "__main__":
    unittest.main(verbosity=2)
