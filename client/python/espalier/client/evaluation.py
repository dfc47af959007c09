"""What a trial's training came to at a step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from espalier.client.protocol import misunderstood

STATES = {1: "done", 2: "failed", 3: "cancelled"}  # ClaimSettled.State


@dataclass(frozen=True)
class Evaluation:
    """`state`: "done", "failed" or "cancelled". `metrics`: of a done one, by name; NaN where training diverged. `message`: why it
    failed. `order`: counts up within the study as results arrive."""

    trial_id: int
    step: int
    state: str
    metrics: dict[str, float] = field(default_factory=dict)
    message: str = ""
    claim_id: int = 0
    order: int = 0

    def __getitem__(self, metric: str) -> float:
        """Raises KeyError, which names the metrics that there are."""
        if metric not in self.metrics:
            names = ", ".join(sorted(self.metrics)) or f"none: it {self.state}"
            raise KeyError(f"no metric {metric}; trial {self.trial_id} at step {self.step} has {names}")
        return self.metrics[metric]

    def value(self, metric: str) -> float:
        """Of this metric; NaN if it has none."""
        return self.metrics.get(metric, math.nan)


def evaluation_of(settled, order: int) -> Evaluation:
    """Of a ClaimSettled, the event number `order`. Raises WrongVersion."""
    if settled.state not in STATES:
        raise misunderstood(f"the value {settled.state} of state in a ClaimSettled")
    return Evaluation(settled.trial_id, settled.step, STATES[settled.state], dict(settled.metrics), settled.message,
                      settled.claim_id, order)  # fmt: skip
