"""record.py VERSION: records a service of this version in versions/VERSION (see recorded.py). Run once, when a version is released, by an
interpreter that has PyTorch, with the programs in the environment's ESPALIER_BIN. What it records is given to strangers: have TMPDIR, the
interpreter and the package's sources (ESPALIER_PACKAGE) lie where names tell them nothing."""

import gzip
import json
import os
import subprocess
import sys
import tarfile

from recorded import OVER, UNDER_WAY, VERSIONS, ServiceOfAVersion, answers, synthetic

import studies
from service import PATIENCE_SECONDS, wait_until

CODE = """
import espalier as es


class Counting(es.Trainer):
    hyper_parameters = {{"lr": es.sequence(float, default=0.1)}}
    metrics = ["score"]
    data = "none"

    def init(self, hp):
        self.score = 0.0
        self.track_attributes("score")

    def setup(self, changed):
        self.lr = changed.get("lr", getattr(self, "lr", 0.1))

    def train(self):
        print("a step of", self.lr)
        {at_step}
        self.score += self.lr
        return {{"loss": 1 - self.score, "samples": 1}}

    def evaluate(self):
        return {{"score": self.score}}
"""


def small(name):
    """Three rungs of a network whose states take little room in the repository."""
    return studies.sha(name, "team", updates=5).replace("dropout: 0.1", "dropout: 0.1\n  hidden: 4")


def own(name):
    return f"""
study: {name}
trainer: counting.py:Counting
python: {sys.executable}
step: 1 updates
hyper_parameters:
  lr: [0.25, "Piecewise([0.25, 0.125], [4])"]
metric: {{name: score, goal: max}}
tuner: {{grid: {{steps: 8}}}}
share: team
keep: all
"""


class Recording(ServiceOfAVersion):
    def prepare(self):
        self.node_lines = f'user_code: USER_CODE_LISTED user_code_of: "local"\npythons {{ name: "torch" path: "{sys.executable}" }}\n'

    def restart_master(self, lines):
        self.masters[0].kill()
        self.masters[0].wait()
        self.master_lines = lines
        self.lead()
        wait_until(self.servers, "the node manager is connected again")

    def run_study(self, name, text, *options):
        ran = self.run("study", "run", self.write(f"{name}.yaml", text), *options, check=False)
        print(f"{name}: {ran.returncode} {ran.stderr}", flush=True)

    def train(self):
        """Studies of every kind that are over, and what is set beside them."""
        self.run_study("retired", small("retired"))
        self.restart_master("retire_after_seconds: 0.01\n")
        wait_until(lambda: self.psql(self.database, "SELECT count(*) FROM retired_study") == "1", "the first study is retired")
        self.restart_master(ServiceOfAVersion.master_lines)
        self.run_study("tuned", small("tuned"))
        self.run_study("pinned", synthetic("pinned", 100, "share: team\nstop: {after: 2h}\ndeadline: 3h\npriority: 2"))
        self.run("study", "pin", "pinned", "--keep", "all")
        running = self.begin("study", "run", self.write("cancelled.yaml", synthetic("cancelled", 10_000, step_seconds=0.2)))
        wait_until(lambda: self.servers()[0]["busy_slots"] == 2, "the study trains")
        self.run("study", "cancel", "cancelled")
        running.communicate(timeout=PATIENCE_SECONDS)
        code = self.root / "counting.py"
        for name, at_step, options in (("failed", 'raise RuntimeError("as told")', []), ("before", "pass", []),
                                       ("after", "self.score += 0.0", ["--reuse-from", "before"])):
            code.write_text(CODE.format(at_step=at_step))
            self.run_study(name, own(name), *options)
        self.run("user", "add", "ann", "--team", "vision")
        self.run("user", "add", "bob", "--team", "vision")
        self.run("user", "remove", "bob")
        self.run("quota", "vision", "--open-trials", "1000", "--weight", "2")
        self.run("server", "policy", "critical_path")

    def begin_what_stays_under_way(self):
        running = self.begin_under_way()
        wait_until(lambda: self.states_of(UNDER_WAY), "a state of it is stored")
        running.kill()
        running.communicate()
        self.node.kill()
        self.node.wait()
        self.run("server", "drain", "local", "--why", "new disks")

    def states_of(self, study):
        listed = self.run("checkpoint", "list", study, check=False)
        return listed.returncode == 0 and json.loads(listed.stdout)

    def save(self, folder):
        with gzip.GzipFile(folder / "database.sql.gz", "wb", mtime=0) as dump:
            dump.write(subprocess.run(["pg_dump", "--no-owner", "--no-privileges", self.database], check=True, capture_output=True).stdout)
        with tarfile.open(folder / "checkpoints.tar.gz", "w:gz") as archive:
            archive.add(self.root / "checkpoints", "checkpoints")


def main():
    folder = VERSIONS / sys.argv[1]
    folder.mkdir(parents=True)
    os.environ["PYTHONPATH"] = os.environ["ESPALIER_PACKAGE"]
    with Recording() as service:
        service.train()
        service.begin_what_stays_under_way()
        said = answers(service)
        states = {study: said[f"study show {study}"][1]["state"] for study in OVER}
        print(json.dumps(states))
        service.masters[0].kill()
        service.masters[0].wait()
        service.save(folder)
        service.lead()
        said["results"] = service.finish_under_way()
    with gzip.GzipFile(folder / "answers.json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(said).encode())


if __name__ == "__main__":
    main()
