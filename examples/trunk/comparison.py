"""Branches of a trunk beside the same trainings alone: steps, device time, learning rates, and the bits of final states."""

import json
import subprocess
from dataclasses import dataclass, field

import espalier as es
from espalier.client.local_service import find_program


@dataclass
class Branches:
    """Trials that leave a trunk, each at a step of `starts`. `alone`: the futures of the same trainings, which share nothing."""

    name: str
    starts: list[int] = field(default_factory=list)
    futures: list[es.Future] = field(default_factory=list)
    alone: list[es.Future] = field(default_factory=list)

    def add(self, start: int, futures: list[es.Future]) -> None:
        self.starts += [start] * len(futures)
        self.futures += futures

    @property
    def trials(self) -> list[es.Trial]:
        """As they are now."""
        return [each.trial.refresh() for each in self.futures]

    def __add__(self, other):
        return Branches(self.name, self.starts + other.starts, self.futures + other.futures, self.alone + other.alone)


def of(study, trunk, decays, otherwise):
    """All of it, as JSON has it. Counts are steps; times are seconds on a slot."""
    everything = decays + otherwise
    alone = [each.trial.refresh() for each in everything.alone]
    return {
        "trunk": {"trial": trunk.id, "steps": trunk.steps, "lr": str(trunk.hyper_parameters["lr"])},
        "branches": [branch_of(*each) for each in zip(everything.starts, everything.trials, alone)],
        "saved": [saved(f"{len(decays.futures)} decays", study, decays), saved("and one more branch", study, everything)],
    }


def branch_of(start, trial, alone):
    """`rates`: of the first two steps after the branch: a learning rate falls from the value that it has where it begins to."""
    return {
        "trial": trial.id,
        "from_step": start,
        "steps": trial.steps,
        "sequences": {name: str(value) for name, value in trial.hyper_parameters.items()},
        "rates": values(trial.hyper_parameters["lr"], start, start + 2),
        "test_loss": trial.metric,
        "state_sha256": trial.state_sha256,
        "state_sha256_alone": alone.state_sha256,
        "same_state": bool(trial.state_sha256) and trial.state_sha256 == alone.state_sha256,
    }


def saved(name, study, branches):
    """What k trainings cost of which all but their decays is one: of shares d of one budget at most k / ((1 - d) + k d) of it is saved."""
    asked = sum(trial.steps for trial in branches.trials)
    least = max(branches.starts) + sum(trial.steps - start for start, trial in zip(branches.starts, branches.trials))
    shared = [study.show(), *(each.show() for each in studies_of(branches.futures))]
    alone = [each.show() for each in studies_of(branches.alone)]
    trained = sum(each.steps.trained for each in shared)
    seconds, seconds_alone = (sum(each.slot_seconds for each in shows) for shows in (shared, alone))
    return {
        "branches": name,
        "steps_asked": asked,
        "steps_trained": trained,
        "steps_trained_alone": sum(each.steps.trained for each in alone),
        "steps_saved": asked / trained,
        "bound": asked / least,
        "slot_seconds": seconds,
        "slot_seconds_alone": seconds_alone,
        "time_saved": seconds_alone / seconds,
    }


def studies_of(futures):
    return {each.trial.study.id: each.trial.study for each in futures}.values()


def values(sequence, first, end):
    """Of steps [first, end). The service alone computes sequences: its program is asked."""
    command = [find_program(), "sequence", "show", str(sequence), "--steps", f"{first}:{end}", "--output", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["values"]


def as_text(found):
    lines = [f"trunk: trial {found['trunk']['trial']}, {found['trunk']['steps']} steps, lr = {found['trunk']['lr']}", "",
             "trial  at step  lr there     and then     test_loss  state as alone"]  # fmt: skip
    for each in found["branches"]:
        first, second = each["rates"]
        same = "yes" if each["same_state"] else "NO"
        lines.append(f"{each['trial']:<7}{each['from_step']:<9}{first:<13.6g}{second:<13.6g}{each['test_loss']:<11.4f}{same}")
        lines += [f"       {name} = {text}" for name, text in each["sequences"].items() if "Piecewise" in text]
    lines += ["", "                     steps asked  trained  saved  bound  device seconds alone  shared  saved"]
    for each in found["saved"]:
        lines.append(f"{each['branches']:<21}{each['steps_asked']:<13}{each['steps_trained']:<9}{each['steps_saved']:<7.2f}{each['bound']:<7.2f}"
                     f"{each['slot_seconds_alone']:<22.2f}{each['slot_seconds']:<8.2f}{each['time_saved']:.2f}")  # fmt: skip
    return "\n".join(lines)
