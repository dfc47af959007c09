"""What a study tells the service's policy to go by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from espalier.client.stop_rule import seconds_in
from espalier.errors import InvalidArgument
from espalier.sequences.values import is_number, shown

PRIORITY_USUAL = 1.0
PRIORITY_MIN, PRIORITY_MAX = 0.001, 1000
SLOTS_MAX = 1000
SPEED_MAX = 1000


def policy_rules(said: Mapping[str, Any] | None) -> dict[str, Any]:
    """As a study file has it, checked: {"may_stop": True, "min": 5, "speeds": {"2": 1.9}}, without what changes nothing."""
    if said is None:
        return {}
    if not isinstance(said, Mapping) or not said:
        raise InvalidArgument(f'expected a dict of may_stop, min or speeds, got {shown(said)}', "policy")
    for name in said:
        if name not in CHECKED:
            raise InvalidArgument(f"is unknown; expected {', '.join(CHECKED)}", f"policy.{name}")
    rules = {name: check(said[name]) for name, check in CHECKED.items() if name in said}
    return {name: rule for name, rule in rules.items() if rule}


def policy_in_request(rules: Mapping[str, Any], deadline: str | None) -> dict[str, Any]:
    """The fields of PolicyChoices."""
    fields: dict[str, Any] = {"may_stop": rules.get("may_stop", False), "min_steps": rules.get("min", 0)}
    fields["speeds"] = {int(slots): speed for slots, speed in rules.get("speeds", {}).items()}
    if deadline is not None:
        fields["deadline_seconds"] = seconds_in(deadline)
    return fields


def priority_of(said: Any) -> float:
    if not is_number(said) or not PRIORITY_MIN <= said <= PRIORITY_MAX:
        raise InvalidArgument(f"expected a number from {PRIORITY_MIN} to {PRIORITY_MAX}, got {shown(said)}", "priority")
    return float(said)


def _may_stop(said):
    if not isinstance(said, bool):
        raise InvalidArgument(f"expected True or False, got {shown(said)}", "policy.may_stop")
    return said


def _min(said):
    if not isinstance(said, int) or isinstance(said, bool) or said < 1:
        raise InvalidArgument(f"expected a whole number of steps, got {shown(said)}", "policy.min")
    return said


def _speeds(said):
    if not isinstance(said, Mapping):
        raise InvalidArgument(f"expected speeds by numbers of slots, such as {{2: 1.9, 4: 3.4}}, got {shown(said)}", "policy.speeds")
    for slots, speed in said.items():
        field = f"policy.speeds.{slots}"
        if not isinstance(slots, int) or isinstance(slots, bool) or not 2 <= slots <= SLOTS_MAX:
            raise InvalidArgument(f"expected 2 to {SLOTS_MAX} slots, got {shown(slots)}", field)
        if not is_number(speed) or not 1 <= speed <= SPEED_MAX:
            raise InvalidArgument(f"expected a speed from 1 to {SPEED_MAX}, got {shown(speed)}", field)
    return {str(slots): float(speed) for slots, speed in said.items()}


CHECKED = {"may_stop": _may_stop, "min": _min, "speeds": _speeds}
