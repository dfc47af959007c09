"""Which hyper-parameters the spread between trials goes with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from espalier.client.importance import importances_of
from espalier.client.plots.canvas import axes_on, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.client.study import Study

BAR_INCHES = 0.35


def plot_importance(study: Study, at: int | None, ax: Axes | None) -> Axes:
    """As Study.plot_importance says."""
    step, found = importances_of(study, at)
    ax = axes_on(ax, 7, 1.2 + BAR_INCHES * max(len(found), 2))
    bars = ax.barh(list(found), list(found.values()), color="C0")
    ax.bar_label(bars, fmt="{:.2f}", padding=3)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.1)
    ax.set_xlabel(f"share of the variance of {study.metric} at step {step}")
    if not found:
        ax.text(0.5, 0.5, "no hyper-parameter has values that several trials share", ha="center", va="center", transform=ax.transAxes, color=ink(0.7))
        ax.set_yticks([])
    return ax
