"""Training that is out of memory is tried again with twice as much of a device, up to all of it, and fails then. Runs with the
interpreter in the environment's ESPALIER_PYTORCH, which has PyTorch."""

import os
import pathlib
import unittest

from service import ServiceWithServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ["ESPALIER_PYTORCH"]
os.environ["PYTHONPATH"] = str(ROOT / "client" / "python")
TRAINERS = ("Hungry", "HungryGpu")
SLOTS = 4
SLOT_MEGABYTES = 1024
FITS, FITS_TWICE, NEVER_FITS = 0, SLOT_MEGABYTES + 100, 100 * SLOTS * SLOT_MEGABYTES


def study(trainer):
    return f"""
study: {trainer}
trainer: {trainer}
step: 1 update
hyper_parameters:
  megabytes: [{FITS}, {FITS_TWICE}, {NEVER_FITS}]
  lr: 0.5
metric: {{name: score, goal: max}}
tuner: {{grid: {{steps: 3}}}}
"""


def small_server():
    """A service with a server whose one device is cut into slots with memory of their own. It alone has the trainers."""
    runtimes = "".join(f"""
runtimes {{ name: "{trainer}" command: ["{PYTHON}", "-m", "espalier.worker", "{ROOT}/tests/e2e/hungry_trainers.py:{trainer}"] }}"""
                       for trainer in TRAINERS)
    device = f'devices {{ name: "cores" slots: {SLOTS} memory_bytes: {SLOT_MEGABYTES << 20} }}'
    return ServiceWithServer("small", device + runtimes, slots=1, worker=os.path.basename(os.path.realpath(PYTHON)))


def trials_by_size(service, trainer):
    """By the megabytes that they take."""
    service.run("study", "run", service.write(f"{trainer}.yaml", study(trainer)), check=False)  # one fails
    return {int(trial["sequences"]["megabytes"]): trial for trial in service.json("trial", "list", trainer)}


def limits(service, trial):
    """Of memory, as the worker had them at each step."""
    return service.json("trial", "show", trial["id"])["training_metrics"]["limit_megabytes"]["values"]


def failures(service, trainer):
    nodes = service.json("plan", "show", trainer)
    stages = [service.json("stage", "explain", f"{node['id']}@1") for node in nodes]
    return "\n".join(stage["why"] for stage in stages if stage["state"] == "failed")


class OutOfMemoryTest(unittest.TestCase):
    def test_training_is_tried_with_twice_as_much_until_it_fits_or_nothing_has_more(self):
        with small_server() as service:
            for trainer in TRAINERS:
                with self.subTest(trainer):
                    trials = trials_by_size(service, trainer)
                    self.assertEqual({size: trial["state"] for size, trial in trials.items()},
                                     {FITS: "done", FITS_TWICE: "done", NEVER_FITS: "failed"})
                    self.assertEqual(limits(service, trials[FITS]), [SLOT_MEGABYTES] * 3)
                    self.assertEqual(limits(service, trials[FITS_TWICE]), [2 * SLOT_MEGABYTES] * 3)
                    self.assertEqual(trials[FITS]["metric"], trials[FITS_TWICE]["metric"])
                    self.assertIn(f"out of memory with {SLOTS} of {SLOTS} slots of cores on small, "
                                  f"{SLOTS * SLOT_MEGABYTES << 20} bytes of its memory, and no server that offers it has more",
                                  failures(service, trainer))


if __name__ == "__main__":
    unittest.main(verbosity=2)
