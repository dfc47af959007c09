"""With the states of which other study a study's trials begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from espalier.errors import InvalidArgument
from espalier.sequences.values import shown

EXPECTED = 'expected a study, its id, or {"study": 12, "until": 60}'


def reuse_rule(given: Any) -> dict[str, int] | None:
    """As a study file has it. `given`: a study, its id, or a dict of it and of a step. Raises InvalidArgument."""
    if given is None:
        return None
    rule = dict(given) if isinstance(given, Mapping) else {"study": given}
    if "study" not in rule or set(rule) - {"study", "until"}:
        raise InvalidArgument(f"{EXPECTED}, got {shown(given)}", "reuse_from")
    rule["study"] = getattr(rule["study"], "id", rule["study"])
    for name, value in rule.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidArgument(f"{EXPECTED}, got {shown(value)} for {name}", "reuse_from")
    return rule
