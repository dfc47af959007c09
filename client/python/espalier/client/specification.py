"""A study as its user asks for it, checked as far as that needs no server."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from espalier.client.policy_choices import PRIORITY_USUAL, policy_in_request, policy_rules, priority_of
from espalier.client.protocol import number_of
from espalier.client.reuse import reuse_rule
from espalier.client.stop_rule import duration, in_request, stop_rule
from espalier.client.tuners import BuiltIn
from espalier.errors import InvalidArgument
from espalier.sequences.spaces import Grid, Space, in_json
from espalier.sequences.values import shown

GOALS = {"max": "GOAL_MAXIMIZE", "min": "GOAL_MINIMIZE"}
SHARES = {"nobody": "SCOPE_NOBODY", "study": "SCOPE_STUDY", "team": "SCOPE_TEAM", "everyone": "SCOPE_EVERYONE"}
KEEPS = {"best": "KEEP_BEST", "all": "KEEP_ALL", "claimed": "KEEP_CLAIMED", "none": "KEEP_NONE"}
CHECKS = {"beside": "CHECK_WHEN_BESIDE", "first": "CHECK_WHEN_FIRST", "off": "CHECK_WHEN_OFF"}
NAME_BYTES_MAX = 200
UPDATES = re.compile(r"(\d+) updates?")


@dataclass
class Specification:
    """As the arguments of `client.study(...)`. `trainer`: the name that servers know; of the user's own code, once a server has
    described it, with `reference_digest`. `trainer_said`: as the user named it."""

    name: str
    trainer_said: str
    data: str = ""
    step: str | int = "epoch"
    space: Grid | Space | None = None
    metric: str | None = None
    goal: str | None = None
    share: str = "team"
    keep: str = "best"
    check: str = "beside"
    evaluate_every: int = 0
    stop: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    deadline: str | None = None
    priority: float = PRIORITY_USUAL
    reuse_from: Any = None
    python: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    trainer: str = ""
    reference_digest: str = ""

    def __post_init__(self):
        if not isinstance(self.name, str) or not 1 <= len(self.name.encode()) <= NAME_BYTES_MAX:
            raise InvalidArgument(f"expected a name of 1 to {NAME_BYTES_MAX} bytes, got {shown(self.name)}", "name")
        if isinstance(self.space, Mapping):
            self.space = Grid(self.space)
        if not isinstance(self.space, (Grid, Space, type(None))):
            raise InvalidArgument(f"expected es.Grid(...), es.Space(...) or a dict, got {shown(self.space)}", "space")
        if isinstance(self.evaluate_every, bool) or not isinstance(self.evaluate_every, int) or self.evaluate_every < 0:
            raise InvalidArgument(f"expected a whole number of steps, got {shown(self.evaluate_every)}", "evaluate_every")
        self.stop = stop_rule(self.stop)
        self.policy = policy_rules(self.policy)
        self.deadline = duration(self.deadline, "deadline") if self.deadline is not None else None
        self.priority = priority_of(self.priority)
        self.reuse_from = reuse_rule(self.reuse_from)
        self.updates = _updates(self.step)
        if self.python and "/" in self.python:
            self.python = str(pathlib.Path(self.python).expanduser().absolute())
        for name, known in (("share", SHARES), ("keep", KEEPS), ("check", CHECKS)):
            one_of(getattr(self, name), known, name)

    def decide_by(self, metric: str | None, goal: str | None) -> None:
        """None: as was said before."""
        self.metric = metric if metric is not None else self.metric
        self.goal = goal if goal is not None else self.goal

    def request(self, definition: str, undeclared: Mapping[str, int], tuner: BuiltIn | None = None) -> dict[str, Any]:
        """The fields of a StudySpecification. Raises InvalidArgument where metric or goal is missing."""
        if not self.metric:
            raise InvalidArgument("is missing; expected the name of what decides, such as test_acc", "metric")
        return {
            "name": self.name,
            "trainer": self.trainer or self.trainer_said,
            "data": self.data,
            "step": {"epoch": True} if self.updates is None else {"updates": self.updates},
            "evaluate_every_steps": self.evaluate_every,
            **({"stop": in_request(self.stop)} if self.stop else {}),
            **({"reuse_from_study_id": self.reuse_from["study"], "reuse_until_step": self.reuse_from.get("until", 0)} if self.reuse_from else {}),
            "policy": policy_in_request(self.policy, self.deadline),
            "priority": self.priority,
            "metric": self.metric,
            "goal": number_of("Goal", one_of(self.goal, GOALS, "goal")),
            "scope": number_of("Scope", SHARES[self.share]),
            "keep": number_of("Keep", KEEPS[self.keep]),
            "check": number_of("CheckWhen", CHECKS[self.check]),
            "definition": definition,
            "undeclared": undeclared,
            "reference_digest": self.reference_digest,
            "tuner": tuner.name if tuner is not None else "",
            "asks_for_idle_slots": tuner is not None and tuner.asks_for_idle_slots,
        }

    def definition(self, tuner: BuiltIn | None = None, trials: Iterable[Mapping[str, Any]] | None = None) -> str:
        """The study as a study file has it, as JSON; equal for equal studies. Without a `tuner` the study is driven from where it was
        made. `trials`: for the tuner, instead of the grid."""
        study: dict[str, Any] = {"study": self.name, "trainer": self.trainer_said, "metric": {"name": self.metric, "goal": self.goal},
                                 "step": "epoch" if self.updates is None else f"{self.updates} updates", "share": self.share,
                                 "keep": self.keep, "check": self.check}  # fmt: skip
        space = self.space if trials is None else None
        optional = {"data": self.data, "hyper_parameters": space.written() if space is not None else None,
                    "only_if": space.only_if.written() if space is not None else None,
                    "trials": [{name: in_json(value) for name, value in trial.items()} for trial in trials or ()],
                    "tuner": {tuner.name: tuner.written(space)} if tuner is not None else None,
                    "tuner_version": tuner.version if tuner is not None else None,
                    "evaluate": {"every": self.evaluate_every} if self.evaluate_every else None, "python": self.python,
                    "stop": self.stop, "policy": self.policy, "deadline": self.deadline,
                    "priority": self.priority if self.priority != PRIORITY_USUAL else None, "reuse_from": self.reuse_from,
                    "environment": dict(self.environment)}  # fmt: skip
        study.update({name: value for name, value in optional.items() if value})
        order = {"hyper_parameters": None}  # whose order is the grid's
        return json.dumps({key: study[key] if key in order else _sorted(study[key]) for key in sorted(study)}, separators=(",", ":"),
                          ensure_ascii=False)  # fmt: skip


def _sorted(value):
    return {key: _sorted(value[key]) for key in sorted(value)} if isinstance(value, dict) else value


def one_of(given, known, name):
    if given not in known:
        raise InvalidArgument(f"expected {', '.join(list(known)[:-1])} or {list(known)[-1]}, got {shown(given)}", name)
    return known[given]


def _updates(step):
    """None: a step is an epoch."""
    if step == "epoch":
        return None
    if isinstance(step, str) and (match := UPDATES.fullmatch(step.strip())):
        step = int(match[1])
    if isinstance(step, int) and not isinstance(step, bool) and step >= 1:
        return step
    raise InvalidArgument(f"expected epoch, or so many updates, such as '200 updates', got {shown(step)}", "step")
