"""Each trial's metric over its steps. What trials share is one line, which parts where they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from espalier.client import text
from espalier.client.plots.canvas import axes_on, ink, label_steps
from espalier.client.stretches import stretches, values_of
from espalier.errors import InvalidArgument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.client.study import Study

BETTER = {"max": "higher", "min": "lower"}
POINTS_MARKED = 40  # a curve of more is a line alone


def plot_curves(study: Study, metric: str | None, ax: Axes | None) -> Axes:
    """As Study.plot_curves says."""
    summary, decides = study.show(), study.metric
    metric = metric or decides
    if not metric:
        raise InvalidArgument("is missing; expected a metric's name, as long as none of the study's trials has a result", "metric")
    curves = {trial: values for trial, values in values_of(study, metric).items() if values}
    best = summary.best.trial_id if summary.best is not None else None
    in_turn = dict(sorted(curves.items(), key=lambda each: each[0] != best))  # the best one is drawn whole, and the others part from it
    ax = axes_on(ax, 8, 5)
    for trial, stretch, diverged in stretches(in_turn):
        said = f"trial {best}: {summary.best.metric} {text.number(summary.best.value)} at step {summary.best.step}" if trial == best else None
        _draw(ax, stretch, diverged, said)
    label_steps(ax)
    ax.set_ylabel(f"{metric} ({BETTER[summary.goal]} is better)" if metric == decides else metric)
    ax.set_title(f"{summary.name}: {len(curves)} trial{'s' * (len(curves) != 1)}")
    if best in curves:
        ax.legend(title="best")
    return ax


def _draw(ax, stretch, diverged, label):
    steps, values = zip(*stretch)
    marker = "." if len(stretch) <= POINTS_MARKED else None
    if label is not None:
        ax.plot(steps, values, color="C0", linewidth=2.5, marker=marker, zorder=3, label=label)
    else:
        ax.plot(steps, values, color=ink(0.4), linewidth=1, marker=marker, markersize=4)
    if diverged:
        ax.plot(steps[-1:], values[-1:], color="C3", linestyle="none", marker="x", markersize=8, markeredgewidth=2, zorder=3)
