"""A client of a chaos run: `PYTHON user.py INDEX SEED JOURNAL STOP`. One study after another, until the file STOP is there; what the service has
acknowledged, and what it has said, goes into the journal, by which the client goes on when it was killed. Two in three use the Python
client, the others the command line; the first of each team trains digits."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

import chain
from journal import Journal

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "client" / "python"))

import espalier as es  # noqa: E402

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
TEAMS = ("red", "green", "blue")
STEP_SECONDS = 0.5
BATCHES, TRIALS_EACH = 3, 3
STARTS = (0.1, 0.2, 0.4)  # with which rates begin: what a team's studies share

CHAIN_FILE = """
study: {name}
trainer: chain
step: epoch
hyper_parameters:
  lr: [{rates}]
  mark: "{mark}"
  step_seconds: {seconds}
metric: {{name: score, goal: max}}
tuner: {{sha: {{min: 8, max: 16, reduction: 2}}}}
keep: none
"""

DIGITS_FILE = """
study: {name}
trainer: mlp
data: digits
step: 1000 updates
hyper_parameters:
  lr: [0.1, "Piecewise([0.1, {rate}], [2])", "Piecewise([0.1, {rate}], [3])"]
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: 4}}}}
keep: none
"""


def mark_of(team):
    """What everything that is printed and stored for the team's studies bears."""
    return f"mark-of-{team}"


def expected(team, rates, steps):
    """(metric, digest of the state) of a trial of the team's, by its learning rate in the notation: Piecewise([A, B], [STEP])."""
    before, after, at = re.fullmatch(r"Piecewise\(\[(.+), (.+)\], \[(\d+)\]\)", rates).groups()

    def values_at(step):
        return {"lr": float(before if step < int(at) else after), "mark": mark_of(team), "step_seconds": STEP_SECONDS}

    return chain.train_alone(values_at, steps)


class User:
    def __init__(self, index, seed, journal):
        self.index = index
        self.seed = seed
        self.journal = journal
        self.team = TEAMS[index % len(TEAMS)]

    def go_on(self, stop):
        while True:
            entries = self.journal.entries()
            rounds = [entry for entry in entries if entry["kind"] == "round"]
            ended = {entry["round"] for entry in entries if entry["kind"] in ("done", "told")}
            if rounds and rounds[-1]["round"] not in ended:
                self.play(rounds[-1]["round"], [entry for entry in entries if entry.get("round") == rounds[-1]["round"]])
            elif stop.exists():
                return
            else:
                self.journal.write("round", round=len(rounds), name=self.name_of(len(rounds)))

    def name_of(self, number):
        return f"{self.team}-{self.index}-{number}"

    def play(self, number, before):
        """A round to its end, of which `before` is written."""
        draw = random.Random(f"{self.seed} {self.index} {number}")
        try:
            if self.index < len(TEAMS):
                self.run_command(number, DIGITS_FILE.format(name=self.name_of(number), rate=round(draw.uniform(0.01, 0.09), 6)))
            elif self.index % 3 == 1:
                rates = ", ".join(f'"{self.rates(draw)}"' for _ in range(6))
                self.run_command(number, CHAIN_FILE.format(name=self.name_of(number), rates=rates, mark=mark_of(self.team),
                                                           seconds=STEP_SECONDS))  # fmt: skip
            else:
                self.use_python(number, draw, before)
            self.journal.write("done", round=number)
        except es.Unavailable:
            time.sleep(0.5)  # nobody answered the first call; the round goes on
        except (es.Error, Told) as error:
            self.look_around(number, [str(error)])
            self.journal.write("told", round=number, error=f"{type(error).__name__}: {error}")

    @staticmethod
    def rates(draw):
        return str(es.Piecewise([draw.choice(STARTS), round(draw.uniform(0.01, 0.09), 9)], [draw.choice((4, 6, 10))]))

    # By the Python client

    def use_python(self, number, draw, before):
        batches = [[(self.rates(draw), draw.choice((8, 12, 16))) for _ in range(TRIALS_EACH)] for _ in range(BATCHES)]
        acknowledged = [entry for entry in before if entry["kind"] == "acknowledged"]
        with es.connect() as client:
            if acknowledged:
                study = client.open_study(acknowledged[0]["study"])
            else:
                study = client.study(self.name_of(number), trainer=chain.NAME, metric=chain.METRIC, goal="max", keep="none")
            for batch in batches[len(acknowledged):]:
                futures = [study.submit({"lr": rates, "mark": mark_of(self.team), "step_seconds": STEP_SECONDS}, steps=steps)
                           for rates, steps in batch]  # fmt: skip
                trials = [{"id": future.trial.id, "lr": rates, "steps": steps} for future, (rates, steps) in zip(futures, batch, strict=True)]
                self.journal.write("acknowledged", round=number, study=study.id, trials=trials)
                for future, (rates, steps) in zip(futures, batch, strict=True):
                    evaluation = future.result()
                    if evaluation.state != "done" or evaluation[chain.METRIC] != expected(self.team, rates, steps)[0]:
                        self.journal.write("wrong", round=number, trial=future.trial.id, got=repr(evaluation))
            try:
                study.finish()
            except es.FailedPrecondition as error:
                if "finished" not in str(error):
                    raise
            study.wait()
            self.look_around(number, [client.open_study(study.id).show(), list(study.trials), list(client.studies()), study.runs()])
            self.pry(number, client, draw)

    def pry(self, number, client, draw):
        """Asks for what may be another team's."""
        for trial in draw.sample(range(1, 2000), 3):
            try:
                self.look_around(number, [client.trial(trial)])
            except es.NotFound:
                pass

    # By the command line

    def run_command(self, number, text):
        file = self.journal.path.with_suffix(f".{number}.yaml")
        file.write_text(text)
        name = self.name_of(number)
        self.call(number, "study", "run", file, "--check", "off")
        trials = self.call(number, "trial", "list", name)
        listed = [{"id": trial["id"], "lr": trial["sequences"]["lr"], "steps": trial["steps"], "state": trial["state"], "metric": trial["metric"],
                   "state_sha256": trial["state_sha256"]} for trial in trials]  # fmt: skip
        for trial in listed if self.index >= len(TEAMS) else []:
            metric, _ = expected(self.team, trial["lr"], trial["steps"])
            if trial["state"] != "done" or trial["metric"] != metric:
                self.journal.write("wrong", round=number, trial=trial["id"], got=repr(trial))
        self.journal.write("acknowledged", round=number, study=self.call(number, "study", "show", name)["id"], trials=listed)
        for noun in (["study", "list"], ["study", "export", name, "--format", "jsonl"], ["trial", "logs", listed[0]["id"]]):
            self.call(number, *noun)

    def call(self, number, *arguments):
        output = [] if "--format" in arguments else ["--output", "json"]
        result = subprocess.run([BIN / "espalier", *map(str, arguments), *output], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.look_around(number, [result.stdout, result.stderr])
        if result.returncode != 0:
            if "no server answers" in result.stderr or "do not come together" in result.stderr:  # at once: it may be tried again
                raise es.Unavailable(result.stderr)
            raise Told(f"{arguments[:2]}: status {result.returncode}: {result.stderr.strip()[-500:]}")
        return json.loads(result.stdout) if output else result.stdout

    def look_around(self, number, seen):
        """Nothing of another team may be in what the service has said."""
        text = repr(seen)
        for team in TEAMS:
            if team != self.team and (mark_of(team) in text or re.search(rf"\b{team}-\d+-\d+", text)):
                self.journal.write("leak", round=number, of=team, seen=text[:2000])


class Told(Exception):
    """What the command line said as it failed."""


def main(index, seed, journal, stop):
    User(int(index), seed, Journal(pathlib.Path(journal))).go_on(pathlib.Path(stop))


if __name__ == "__main__":
    main(*sys.argv[1:])
