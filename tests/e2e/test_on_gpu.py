"""What only a real GPU shows: that it is found and its use measured, and what becomes of trainings that do not fit on it together. Runs with the interpreter in the
environment's ESPALIER_PYTORCH, whose PyTorch has CUDA, and is not run (77) without a GPU."""

import os
import pathlib
import subprocess
import sys
import unittest

from service import ServiceWithServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ["ESPALIER_PYTORCH"]
os.environ["PYTHONPATH"] = str(ROOT / "client" / "python")
MEMORY = "import torch; print(torch.cuda.get_device_properties(0).total_memory if torch.cuda.is_available() else 0)"


def server(lines=""):
    """A service with a server that alone has the trainer."""
    runtime = f'runtimes {{ name: "holding" command: ["{PYTHON}", "-m", "espalier.worker", "{ROOT}/tests/e2e/hungry_trainers.py:HoldingGpu"] }}'
    return ServiceWithServer("gpu", lines + runtime, slots=1, worker=os.path.basename(os.path.realpath(PYTHON)))


def study(name, megabytes, rates):
    return f"""
study: {name}
trainer: HoldingGpu
step: 1 update
hyper_parameters:
  megabytes: {megabytes}
  lr: {rates}
metric: {{name: score, goal: max}}
tuner: {{grid: {{steps: 8}}}}
"""


class OnGpuTest(unittest.TestCase):
    def test_a_gpu_is_found_and_its_use_is_measured(self):
        with server() as service:
            [device] = next(each for each in service.json("server", "list") if each["name"] == "gpu")["devices"]
            self.assertEqual((device["name"], device["type"], device["slots"]), ("gpu-0", "gpu", 1))
            # The driver keeps some of it for itself.
            self.assertLess(abs(device["memory_bytes"] - memory) / memory, 0.05)
            service.run("study", "run", service.write("small.yaml", study("small", 1000, [0.5])))
            [node] = service.json("plan", "show", "small")
            print(node["costs"])
            self.assertGreaterEqual(node["costs"]["device_memory_bytes"], 1000 << 20)
            self.assertTrue(0 < node["costs"]["utilization"] <= 1, node["costs"])

    def test_trainings_that_do_not_fit_together_are_trained_one_after_the_other(self):
        with server('devices { gpus: "0" slots: 2 } ') as service:
            most_of_it = int(0.6 * memory) >> 20
            service.run("study", "run", service.write("large.yaml", study("large", most_of_it, [0.25, 0.5, 0.75])))
            trials = service.json("trial", "list", "large")
            self.assertEqual([(trial["state"], trial["metric"]) for trial in trials], [("done", 2), ("done", 4), ("done", 6)])
            self.assertIn("CUDA out of memory", "".join(service.text("trial", "logs", trial["id"]) for trial in trials))


if __name__ == "__main__":
    memory = int(subprocess.run([PYTHON, "-c", MEMORY], capture_output=True, text=True, check=True).stdout)
    if memory == 0:
        print("not run: there is no GPU that PyTorch can use", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
