"""What a service of some version left behind, and what it answered: recorded once (record.py), and asked again of every version that
comes after it (test_upgrade.py). In versions/VERSION/: `database.sql.gz`, as pg_dump writes it; `checkpoints.tar.gz`, the store;
`answers.json.gz`, by command, and under "results" what came of the study that was under way."""

import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from own_master import OwnMaster  # noqa: E402
from service import PATIENCE_SECONDS, results, wait_until  # noqa: E402

# A plan goes on only on its own kind of device: all record, and go on, as what every processor with AVX2 can be. 0.1.0 names no model.
os.environ.update(ESPALIER_PROCESSOR="", OPENBLAS_CORETYPE="Haswell", ATEN_CPU_CAPABILITY="avx2")

VERSIONS = HERE / "versions"
UNDER_WAY = "under way"  # the study whose runs had not ended
OVER = ["retired", "tuned", "pinned", "cancelled", "failed", "before", "after"]


def commands(service):
    """What is asked and printed whole; nothing of the study that is under way, whose runs go on meanwhile."""
    yield ["user", "list"]
    for study in OVER:
        yield from (["study", "show", study], ["study", "best", study], ["trial", "list", study], ["plan", "show", study],
                    ["checkpoint", "list", study])
        for trial in service.json("trial", "list", study):
            yield from (["trial", what, str(trial["id"])] for what in ("show", "explain", "logs"))


def answers(service):
    """Exit status and what was printed, by command; of studies and quotas, what does not change as the study under way goes on; of the
    policy, what is stored and no version's own words."""
    said = {}
    for command in commands(service):
        done = service.run(*command, check=False)
        said[" ".join(command)] = [done.returncode, json.loads(done.stdout) if done.returncode == 0 else done.stderr]
    said["study list"] = [study for study in service.json("study", "list") if study["name"] != UNDER_WAY]
    chosen = service.json("server", "policy")
    said["server policy"] = {what: chosen[what] for what in ("policy", "chosen_by", "chosen_at")}
    due = service.json("quota")
    said["quota"] = {"weights": {team["team"]: team["weight"] for team in due["teams"]},
                     "limits": [[limited["team"], limited["user"], limited["open_trials"]["at_most"]] for limited in due["quotas"]]}  # fmt: skip
    return said


def synthetic(name, steps, more="", step_seconds=0.0):
    """A study of four schedules that begin alike."""
    return f"""
study: {name}
trainer: synthetic
hyper_parameters:
  lr: [0.1, "MultiStep(0.1, [40], gamma=0.5)", "MultiStep(0.1, [40, 80], gamma=0.5)", "Exponential(0.1, 0.9)"]
  step_seconds: {step_seconds}
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: {steps}}}}}
{more}
"""


class ServiceOfAVersion(OwnMaster):
    master_lines = "retire_after_seconds: -1\n"  # what is to be retired is when the test says so

    def lead(self):
        self.start_master(0)
        wait_until(lambda: self.run("study", "list", check=False).returncode == 0, "the master leads")

    def begin_under_way(self):
        """Whoever runs it again goes on with it."""
        return self.begin("study", "run", self.write("under way.yaml", synthetic(UNDER_WAY, 120, "share: team", step_seconds=0.1)))

    def finish_under_way(self):
        self.run("server", "drain", "local", "--off")
        self.start_node()
        _, said = self.begin_under_way().communicate(timeout=PATIENCE_SECONDS)
        assert "finished" == self.json("study", "show", UNDER_WAY)["state"], said
        return {trial: list(result) for trial, result in results(self, UNDER_WAY).items()}
