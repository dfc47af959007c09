"""When a study ends though its tuner is not done."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from espalier.errors import InvalidArgument
from espalier.sequences.values import is_number, shown

HOUR = 3600
UNITS = {"s": 1, "m": 60, "h": HOUR}
DURATION = re.compile(r"([1-9]\d*)([smh])")
AFTER_MAX = 24_000 * HOUR
DEVICE_HOURS_MAX = 24_000_000


def stop_rule(said: Mapping[str, Any] | None) -> dict[str, Any]:
    """As a study file has it, checked: {"after": "2h", "device_hours": 10.0, "metric": 0.95}, without what was not said."""
    if said is None:
        return {}
    if not isinstance(said, Mapping) or not said:
        raise InvalidArgument(f"expected a dict of after, device_hours or metric, got {shown(said)}", "stop")
    for name in said:
        if name not in CHECKED:
            raise InvalidArgument(f"is unknown; expected {', '.join(CHECKED)}", f"stop.{name}")
    return {name: check(said[name]) for name, check in CHECKED.items() if name in said}


def in_request(rule: Mapping[str, Any]) -> dict[str, float]:
    """The fields of a StopRule."""
    fields = {}
    if "after" in rule:
        fields["after_seconds"] = seconds_in(rule["after"])
    if "device_hours" in rule:
        fields["device_seconds"] = rule["device_hours"] * HOUR
    if "metric" in rule:
        fields["metric"] = rule["metric"]
    return fields


def seconds_in(text: Any) -> float:
    """Of "90s", "30m", "2h"; NaN: it is no such text."""
    match = DURATION.fullmatch(text) if isinstance(text, str) else None
    return float(int(match[1]) * UNITS[match[2]]) if match else math.nan


def duration(said: Any, field: str) -> str:
    """As it was said, checked. Raises InvalidArgument of the field."""
    if not 0 < seconds_in(said) <= AFTER_MAX:
        raise InvalidArgument(f"expected a time such as 90s, 30m or 2h, of at most 24000h, got {shown(said)}", field)
    return said


def _after(said):
    return duration(said, "stop.after")


def _device_hours(said):
    if not is_number(said) or not 0 < said <= DEVICE_HOURS_MAX:
        raise InvalidArgument(f"expected a number of hours above 0, such as 10 or 0.5, got {shown(said)}", "stop.device_hours")
    return float(said)


def _metric(said):
    if not is_number(said) or not math.isfinite(said):
        raise InvalidArgument(f"expected a number, got {shown(said)}", "stop.metric")
    return float(said)


CHECKED = {"after": _after, "device_hours": _device_hours, "metric": _metric}
