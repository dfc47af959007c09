"""A state of 100 MB is streamed: the node manager needs no room for it, and the worker that of one snapshot."""

import pathlib
import sys
import tempfile
import unittest

from service import BIN, Service

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))

import process_memory  # noqa: E402
from fake_node_manager import Worker  # noqa: E402

HIDDEN = 3600  # of two layers: 13 million weights, and as many momenta
NODE_MANAGER = 64 << 20
STATES = 1.2
SLACK = 32 << 20  # of what the allocator keeps
IDENTITY = {"planId": 1, "planNodeId": 2, "step": 2, "leadershipId": 3, "runId": 5, "lineageDigest": "0" * 32}

STUDY = f"""
study: wide
trainer: mlp
data: digits
step: 1 updates
hyper_parameters: {{lr: [0.01, "MultiStep(0.01, [2], gamma=0.5)"], momentum: 0.9, hidden: {HIDDEN}}}
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: 4}}}}
"""


class MemoryTest(unittest.TestCase):
    def test_a_large_state_passes_a_node_manager_both_ways_without_taking_room_there(self):
        with Service(slots=1) as service:
            [node] = service.processes()["node"]
            before = process_memory.resident(node)
            process_memory.forget_peak(node)
            service.run("study", "run", service.write("wide.yaml", STUDY))
            checkpoints = [each["bytes"] for each in service.json("checkpoint", "list", "wide")]
            self.assertGreater(max(checkpoints), 100e6)
            self.assertLess(process_memory.peak(node) - before, NODE_MANAGER)

    def test_a_worker_in_cpp_saves_and_loads_in_the_room_of_one_snapshot(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            command = [BIN / "espalier-worker", "--trainer", "mlp", "--data", "digits"]
            values = {"hidden": HIDDEN, "momentum": 0.9}
            with Worker(None, folder / "log", command=command) as worker, Worker(None, folder / "log of other", command=command) as other:
                for each in (worker, other):
                    each.init(values, 1)
                    each.setup_all({})
                worker.train()
                worker.train()
                before = process_memory.resident(worker.process.pid)
                process_memory.forget_peak(worker.process.pid)
                saves = [worker.send("save", path=str(folder / file), identity=IDENTITY) for file in ("first", "second")]
                byte_count = [int(worker.answer(each)["bytes"]) for each in saves][0]
                self.assertGreater(byte_count, 100e6)
                self.assertLess(process_memory.peak(worker.process.pid) - before, STATES * byte_count + SLACK)
                process_memory.forget_peak(other.process.pid)
                other.load(folder / "first", 2)
                taken = process_memory.peak(other.process.pid) - process_memory.resident(other.process.pid)
                self.assertLess(taken, STATES * byte_count + SLACK)


if __name__ == "__main__":
    unittest.main(verbosity=2)
