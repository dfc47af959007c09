"""Stored states as users and administrators see them: listed, exported to a file, and, where nobody needs them, collected."""

import json
import pathlib
import shutil
import unittest

from service import Service, results, wait_until

STUDY = """
study: kept
trainer: synthetic
hyper_parameters:
  a: ["Piecewise([0, 1], [4])", "Piecewise([0, 2], [4])"]
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 8}}
"""

HALVING = """
study: halving
trainer: synthetic
hyper_parameters:
  a: [1, 2, 3, 4, "Piecewise([1, 5], [3])", "Piecewise([1, 6], [6])", "Piecewise([2, 7], [9])", "Piecewise([3, 8], [9])"]
metric: {name: test_acc, goal: max}
tuner: {sha: {min: 4, max: 16, reduction: 2}}
"""


def tensors(file):
    """The arrays' names and bytes of a safetensors file."""
    content = pathlib.Path(file).read_bytes()
    length = int.from_bytes(content[:8], "little")
    head = json.loads(content[8:8 + length])
    return {name: content[8 + length:][slice(*entry["data_offsets"])] for name, entry in head.items() if name != "__metadata__"}


class CheckpointsTest(unittest.TestCase):
    def test_states_are_listed_and_one_is_exported_as_it_was_stored(self):
        with Service() as service:
            service.run("study", "run", service.write("study.yaml", STUDY))
            listed = service.json("checkpoint", "list", "kept")
            self.assertEqual(sorted(each["step"] for each in listed), [4, 8, 8])
            for each in listed:
                self.assertEqual((service.data / "checkpoints" / each["file"]).stat().st_size, each["bytes"])

            trial = service.json("trial", "list", "kept")[0]["id"]
            exported = service.root / "state.safetensors"
            told = service.json("checkpoint", "export", trial, exported)
            self.assertEqual((told["trial"], told["step"], told["bytes"]), (trial, 8, exported.stat().st_size))
            own = [service.data / "checkpoints" / each["file"] for each in listed if each["step"] == 8]
            self.assertIn(tensors(exported), [tensors(file) for file in own])
            again = service.run("checkpoint", "export", trial, exported, check=False)
            self.assertEqual(again.returncode, 1)
            self.assertIn("exists", again.stderr)
            missing = service.run("checkpoint", "export", trial, service.root / "other", "--step", 5, check=False)
            self.assertEqual(missing.returncode, 1)
            self.assertIn("stored are the states at steps 4, 8", missing.stderr)
            self.assertFalse((service.root / "other").exists())

    def test_a_state_that_is_not_stored_any_more_is_trained_once_more_for_whoever_asks_for_it(self):
        with Service() as service:
            service.run("study", "run", service.write("study.yaml", HALVING))
            size = service.json("checkpoint", "list", "halving")[0]["bytes"]
            of_trials = {}
            for trial in service.json("trial", "list", "halving"):
                exported = service.root / f"state-{trial['id']}"
                service.run("checkpoint", "export", trial["id"], exported, "--step", trial["steps"])
                of_trials[json.dumps(trial["sequences"])] = tensors(exported)
        with Service(up_options=("--checkpoint-bytes", str(3 * size))) as service:
            service.run("study", "run", service.write("study.yaml", HALVING))
            asked = None
            for trial in service.json("trial", "list", "halving"):
                exported = service.root / "state"
                arguments = ("checkpoint", "export", trial["id"], exported, "--step", trial["steps"])
                if service.run(*arguments, check=False).returncode == 1:
                    asked = trial
                    break
                exported.unlink()
            self.assertIsNotNone(asked, "no state was evicted")
            self.assertIn("it is trained to there once more", service.run(*arguments, check=False).stderr)
            told = service.json(*arguments, "--train")
            self.assertEqual((told["trial"], told["step"]), (asked["id"], asked["steps"]))
            self.assertEqual(tensors(exported), of_trials[json.dumps(asked["sequences"])])
            again = service.json("study", "show", f"trial-{asked['id']}-state-{asked['steps']}")
            self.assertEqual((again["state"], again["steps"]["wasted"]), ("finished", 0))
            self.assertEqual(service.json("study", "show", "halving")["state"], "finished")

    def test_files_that_nobody_needs_are_found_and_removed_and_nothing_else(self):
        with Service() as service:
            service.run("study", "run", service.write("study.yaml", STUDY))
            store = service.data / "checkpoints"
            listed = service.json("checkpoint", "list", "kept")
            file = store / listed[0]["file"]
            node, step, rest = file.name.split("-", 2)
            orphan = file.with_name(f"{node}-{int(step) - 1}-{rest}")  # as a run leaves that dies before it reports
            foreign = store / "notes.txt"
            shutil.copy(file, orphan)
            foreign.write_text("not a checkpoint")
            before = sorted(path for path in store.rglob("*") if path.is_file())

            self.assertEqual(service.json("checkpoint", "gc")["files"], [])  # it is too young
            told = service.json("checkpoint", "gc", "--older-than", 0)
            self.assertEqual([each["file"] for each in told["files"]], [str(orphan.relative_to(store))])
            self.assertEqual((told["removed"], told["bytes"]), (False, orphan.stat().st_size))
            self.assertEqual(sorted(path for path in store.rglob("*") if path.is_file()), before)

            told = service.json("checkpoint", "gc", "--older-than", 0, "--remove")
            self.assertEqual((told["removed"], len(told["files"])), (True, 1))
            self.assertEqual(sorted(path for path in store.rglob("*") if path.is_file()), [path for path in before if path != orphan])
            self.assertEqual(service.json("checkpoint", "gc", "--older-than", 0)["files"], [])

            store.rename(service.root / "elsewhere")
            away = service.run("checkpoint", "gc", check=False)
            self.assertEqual(away.returncode, 1)
            self.assertIn("cannot find the checkpoint store", away.stderr)
            (service.root / "elsewhere").rename(store)

    def test_a_budget_of_a_few_states_costs_training_again_and_changes_no_result(self):
        with Service() as service:
            service.run("study", "run", service.write("study.yaml", HALVING))
            expected = results(service, "halving")
            size = service.json("checkpoint", "list", "halving")[0]["bytes"]
        budget = 4 * size
        with Service(up_options=("--checkpoint-bytes", str(budget))) as service:
            service.run("study", "run", service.write("study.yaml", HALVING))
            self.assertEqual(results(service, "halving"), expected)

            def stored():
                return sum(file.stat().st_size for file in (service.data / "checkpoints").rglob("*.ckpt"))
            wait_until(lambda: stored() <= budget, "the store is within its budget")
            kept = service.json("checkpoint", "list", "halving")
            self.assertEqual(sum(each["bytes"] for each in kept), stored())
            for trial in service.json("trial", "list", "halving")[:3]:
                service.run("trial", "extend", trial["id"], "--steps", 24)
            wait_until(lambda: stored() <= budget, "the store is within its budget again")


if __name__ == "__main__":
    unittest.main(verbosity=2)
