"""A chaos run: `ESPALIER_BIN=build/release/bin python3 tests/chaos/run.py [--minutes 60] [--seed N] [--servers 64] [--clients 20]`, as root. A
real service with real node managers, of which all but two have light workers (chain_worker.py), clients of three teams, and faults of many
kinds; then everything heals, and every trial that was ever acknowledged is looked for. Says what happened and what was wrong; exits
with 1 if anything was. docs/reliability.md has the results."""

import argparse
import collections
import heapq
import itertools
import json
import random
import sys
import time

import faults
import user
from journal import read
from user import TEAMS
from world import World, wait_until

PAUSE_SECONDS = (2, 18)  # between two faults
RESTORES = (0.35, 0.7)  # when, as parts of the whole


class Wrong(list):
    def __call__(self, what):
        print(f"WRONG: {what}", flush=True)
        self.append(what)


class Ends:
    """Of the faults that last: what is to be called when."""

    def __init__(self):
        self.heap = []
        self.numbers = itertools.count()

    def add(self, seconds, end):
        heapq.heappush(self.heap, (time.monotonic() + seconds, next(self.numbers), end))

    def wait(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            while self.heap and self.heap[0][0] <= time.monotonic():
                heapq.heappop(self.heap)[2]()
            time.sleep(0.1)

    def end_all(self):
        while self.heap:
            heapq.heappop(self.heap)[2]()


def disturb(world, seconds, draw, counts):
    begun = time.monotonic()
    restores = [begun + seconds * part for part in RESTORES]
    ends = Ends()
    while time.monotonic() < begun + seconds:
        is_restored = bool(restores) and restores[0] <= time.monotonic()
        fault = faults.restore if is_restored else draw.choices(list(faults.WEIGHTS), list(faults.WEIGHTS.values()))[0]
        if happened := fault(world, draw):
            what, lasts, end = happened
            restores = restores[1:] if is_restored else restores
            counts[fault.__name__] += 1
            print(f"{time.monotonic() - begun:6.0f} s  {what}" + (f" for {lasts:.0f} s" if lasts else ""), flush=True)
            if end is not None:
                ends.add(lasts, end)
        ends.wait(draw.uniform(*PAUSE_SECONDS))
    ends.end_all()


def verify(world, wrong):
    """Whatever a client was told holds, unless the database went back behind it, and the client was told that."""
    found = collections.Counter()
    for client in world.clients:
        index = int(client.name.rsplit("-")[-1])
        entries = read(world.root / f"{client.name}.journal")
        for kind in ("wrong", "leak"):
            for entry in entries:
                if entry["kind"] == kind:
                    wrong(f"{client.name}: {entry}")
        rounds = collections.defaultdict(list)
        for entry in entries:
            if "round" in entry:
                rounds[entry["round"]].append(entry)
        for entries_of_round in rounds.values():
            verify_round(world, index, entries_of_round, found, wrong)
    return found


def verify_round(world, index, entries, found, wrong):
    team = TEAMS[index % len(TEAMS)]
    name = entries[0]["name"]
    told = [entry for entry in entries if entry["kind"] == "told"]
    found["rounds"] += 1
    found["rounds told of a loss"] += len(told)
    for entry in told:
        if not any(begun <= entry["at"] and entries[0]["at"] <= ended for begun, ended in world.restores):
            wrong(f"{name} was told of what nothing explains: {entry['error']}")
    acknowledged = [entry for entry in entries if entry["kind"] == "acknowledged"]
    if not acknowledged:
        return
    is_disturbed = any(begun <= entries[-1]["at"] and entries[0]["at"] <= ended for begun, ended in world.restores)
    for entry in acknowledged:  # a client that was killed as it wrote may have begun the study anew
        listed = world.espalier("trial", "list", entry["study"], token=world.tokens[team], check=False)
        there = {trial["id"]: trial for trial in json.loads(listed.stdout)} if listed.returncode == 0 else {}
        may_be_lost = any(begun <= entry["at"] <= ended for begun, ended in world.restores)
        for trial in entry["trials"]:
            found["trials acknowledged"] += 1
            stands = there.get(trial["id"])
            # A study that was restored as it ran is finished by nobody, if its client had seen its end.
            is_back = stands is not None and stands["state"] == "idle" and is_disturbed
            if stands is None or stands["sequences"]["lr"] != trial["lr"] or (is_back and may_be_lost):
                found["trials lost with what came after the backup"] += 1
                if not may_be_lost:
                    wrong(f"{name}: trial {trial['id']}, acknowledged at {entry['at']}, is lost")
                elif not told and entries[-1]["kind"] != "done":
                    wrong(f"{name}: trial {trial['id']} is lost, and its client was not told")
                elif not told:
                    found["of these, of clients that had ended"] += 1
                continue
            if is_back:
                stands["state"] = "done"
            verify_trial(name, team, trial, stands, index < len(TEAMS), found, wrong)


def verify_trial(name, team, trial, stands, is_digits, found, wrong):
    """It has come to what it comes to without faults."""
    if is_digits:
        expected = (trial["metric"], trial["state_sha256"])  # compared with a training alone, below
        got = (stands["metric"], stands["state_sha256"] or trial["state_sha256"])
    else:
        if stands["steps"] != trial["steps"] and stands["state"] == "cancelled":
            return
        metric, digest = user.expected(team, trial["lr"], trial["steps"])
        expected = (metric, digest)
        got = (stands["metric"], stands["state_sha256"] or digest)
    if stands["state"] != "done" or got != expected:
        wrong(f"{name}: trial {trial['id']} came to {stands['state']} {got}, not to {expected}")
    else:
        found["trials with the right result"] += 1


def train_alone(world, wrong, count=3):
    """Some of the studies on digits once more, sharing with nobody, now that nothing happens."""
    for index in range(len(TEAMS)):
        entries = read(world.root / f"client-{index}.journal")
        done = [entry for entry in entries if entry["kind"] == "acknowledged"][-count:]
        for entry in done:
            text = (world.root / f"client-{index}.{entry['round']}.yaml").read_text()
            name = f"alone-{index}-{entry['round']}"
            file = world.root / f"{name}.yaml"
            file.write_text(text.replace(f"study: {TEAMS[index]}-{index}-{entry['round']}", f"study: {name}") + "share: nobody\n")
            world.espalier("study", "run", file, "--check", "off", token=world.tokens[TEAMS[index]])
            alone = json.loads(world.espalier("trial", "list", name, token=world.tokens[TEAMS[index]]).stdout)
            by_rate = {trial["sequences"]["lr"]: (trial["metric"], trial["state_sha256"]) for trial in alone}
            for trial in entry["trials"]:
                if by_rate[trial["lr"]] != (trial["metric"], trial["state_sha256"]):
                    wrong(f"{name}: {trial['lr']} came to {by_rate[trial['lr']]} alone, to {trial['metric'], trial['state_sha256']} before")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--servers", type=int, default=64)
    parser.add_argument("--clients", type=int, default=20)
    options = parser.parse_args()
    print(f"--seed {options.seed}", flush=True)
    draw, counts, wrong = random.Random(options.seed), collections.Counter(), Wrong()
    with World(options.servers, options.clients, options.seed) as world:
        world.release(*world.clients)
        disturb(world, options.minutes * 60, draw, counts)
        print("no more faults; waiting for what was begun", flush=True)
        world.stop_file.touch()
        wait_until(lambda: all(client.has_ended_well() for client in world.clients), "all clients have ended what they began", every=1)
        wait_until(lambda: world.busy_slots() == 0, "all is trained that restored studies wait for", every=1)
        found = verify(world, wrong)
        train_alone(world, wrong)
        for node in world.nodes:
            if (status := node.stop()) != 0:
                wrong(f"{node.name} ended with {status}")
        for what, count in [*counts.items(), *found.items()]:
            print(f"{count:7}  {what}")
        print(f"{len(wrong)} wrong", flush=True)
        if wrong:
            sys.exit(1)


if __name__ == "__main__":
    main()
