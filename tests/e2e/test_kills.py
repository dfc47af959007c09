"""kill -9 of any process at random moments in one study of users' PyTorch code with loader workers: the same result as undisturbed,
and nothing is left behind. ESPALIER_KILLS says how often."""

import os
import pathlib
import unittest

from disturbing import draw_from_seed, kill, run_disturbed
from service import results, wait_until
from test_python_trainer import ROOT, service_with

KILLS = int(os.environ.get("ESPALIER_KILLS", "20"))
STEPS = 4 * KILLS + 20  # of each trial: far more than pass between kills, so that all come in time
ROLES = ["worker", "loader", "node", "master", "postgres", "up"]


def study(name):
    return f"""
study: {name}
trainer: Small
step: 16 updates
hyper_parameters:
  workers: 2
  lr: [0.05, "MultiStep(0.05, [{STEPS // 3}, {STEPS // 2}], gamma=0.5)", "MultiStep(0.05, [{STEPS // 3}], gamma=0.5)"]
  bs: [8, "MultiStep(8, [{STEPS // 2}], gamma=2)"]
metric: {{name: loss, goal: min}}
tuner: {{grid: {{steps: {STEPS}}}}}
share: study
"""


def shared_memory():
    return {path.name for path in pathlib.Path("/dev/shm").iterdir()}


class KillsTest(unittest.TestCase):
    def test_any_process_may_be_killed_at_any_moment_of_a_study(self):
        draw = draw_from_seed()
        before = shared_memory()
        kills = [(f"kill {role}", kill(role)) for role in draw.choices(ROLES, k=KILLS)]
        service = service_with(ROOT / "tests/python/trainers/small.py:Small")
        temporary = service.root / "temporary"
        temporary.mkdir()
        service.variables["TMPDIR"] = str(temporary)
        with service:
            service.run("study", "run", service.write("undisturbed.yaml", study("undisturbed")), seconds=7200)
            came = run_disturbed(service, "disturbed", study("disturbed"), kills, draw)
            self.assertEqual(came, KILLS, "the study was over before all kills had come")
            self.assertEqual(results(service, "disturbed"), results(service, "undisturbed"))
            self.assertEqual(service.json("study", "show", "disturbed")["steps"]["wasted"], 0)
            left = [each.name for each in temporary.iterdir() if not each.name.startswith("torchinductor")]  # a cache of PyTorch's
            self.assertEqual(left, [])
        left = shared_memory() - before  # what others have, who are tested beside, goes sooner or later
        wait_until(lambda: not left & shared_memory(), f"nothing holds {sorted(left)}")


if __name__ == "__main__":
    unittest.main()
