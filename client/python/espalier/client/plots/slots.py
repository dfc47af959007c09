"""What the slots did for a study, over time."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from matplotlib.patches import Patch

from espalier.client.plots.canvas import axes_on, ink
from espalier.client.runs import utilization

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.client.study import Study

COLOURS = {"trained": "#2b8a5e", "only evaluated": "#4a9fe0"}
ROW_INCHES, INCHES_MAX = 0.3, 30.0
BAR = 0.8  # of a row


def plot_utilization(study: Study, ax: Axes | None) -> Axes:
    """As Study.plot_utilization says."""
    runs, now = study.runs(), datetime.now(timezone.utc)
    rows = sorted({(run.server, run.slot + index) for run in runs for index in range(run.slots)})
    ax = axes_on(ax, 11, min(1.2 + ROW_INCHES * max(len(rows), 2), INCHES_MAX))
    begin = min((run.held_from for run in runs), default=now)
    for run in runs:
        colour = COLOURS[_kind(run)]
        for index in range(run.slots):
            ax.barh(rows.index((run.server, run.slot + index)), (run.until(now) - run.held_from).total_seconds(),
                    left=(run.held_from - begin).total_seconds(), height=BAR, color=colour, edgecolor=ax.get_facecolor(), linewidth=0.5)  # fmt: skip
    ax.set_yticks(range(len(rows)), [f"{server} {slot}" for server, slot in rows])
    ax.set_ylim(max(len(rows), 1) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("seconds")
    ax.set_title(f"{len(runs)} runs; slots held {utilization(runs, now):.0%} of the time" if runs else "no run yet", color=ink())
    if runs:
        kinds = [what for what in COLOURS if any(what == _kind(run) for run in runs)]
        ax.legend(handles=[Patch(color=COLOURS[what], label=what) for what in kinds], loc="lower left", bbox_to_anchor=(0, 1), ncols=len(kinds),
                  frameon=False, borderaxespad=0)  # fmt: skip
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _kind(run):
    return "trained" if run.to_step > run.from_step else "only evaluated"
