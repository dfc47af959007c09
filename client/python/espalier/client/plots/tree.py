"""The search plan of a study: steps to the right, one row for each way to the end, what several trials share as thick as it is shared."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from espalier.client.plan_layout import functions_text, lay_out
from espalier.client.plots.canvas import axes_on, ink, label_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.client.study import Study

COLOURS = {"trained": "#2b8a5e", "reused": "#9775fa", "running": "#f59f00", "waiting": "#4a9fe0"}  # of stages; of what is planned: faint ink
FAINT = 0.18
THIN, THICK = 0.34, 0.84  # of a row: one trial's, and the trunk of all
ROW_INCHES, INCHES_MAX = 0.24, 30.0
LABEL_CHARACTERS_MAX, LABEL_SHARE = 60, 0.6  # of a row's height


def plot_tree(study: Study, ax: Axes | None) -> Axes:
    """As Study.plot_tree says."""
    nodes = study.client.connection.call("GetPlan", study_id=study.id).nodes
    placed = lay_out(nodes)
    rows = max((each.row for each in placed), default=-1) + 1
    ax = axes_on(ax, 11, min(1.2 + ROW_INCHES * max(rows, 2), INCHES_MAX))
    branches = defaultdict(list)
    for each in placed:
        branches[each.node.parent_id].append(each)
    most = max((each.node.trial_count for each in placed), default=1)
    for each in placed:
        _draw(ax, each, branches[each.node.plan_node_id], most)
    _label_rows(ax, placed, rows)
    _explain(ax, placed)
    label_steps(ax)
    ax.set_xlim(0, max((each.end for each in placed), default=1))
    ax.set_ylim(rows - 0.4, -0.6)
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _draw(ax, placed, branches, most):
    """`branches`: what leaves it; `most`: the trials of the largest node."""
    node, row, parent = placed.node, placed.row, placed.parent
    if parent is not None:
        ax.plot([node.start_step, node.start_step], [parent.row, row], color=ink(0.5), linewidth=1, zorder=1)
    for stage in node.stages:
        for begin, end in pairwise(_cuts(stage, branches)):
            trials = node.trial_count - sum(each.node.trial_count for each in branches if each.node.start_step <= begin)
            ax.barh(row, end - begin, left=begin, height=_height(trials, most), color=COLOURS.get(stage.state, ink(FAINT)), zorder=2)
    if node.checkpoint_steps:
        ax.plot(node.checkpoint_steps, [row] * len(node.checkpoint_steps), clip_on=False, zorder=4, **_checkpoint(ax))
    if node.trial_count > 1 and (parent is None or (parent.row, parent.node.trial_count) != (row, node.trial_count)):
        on_colour = node.stages and node.stages[0].state in COLOURS
        ax.annotate(f"{node.trial_count} trials", (node.start_step, row), xytext=(5, 0), textcoords="offset points", va="center", fontsize="x-small",
                    color="white" if on_colour else ink(), in_layout=False, zorder=3)  # fmt: skip


def _cuts(stage, branches):
    """Where so many trials go on that its bar gets thinner."""
    inside = {each.node.start_step for each in branches if stage.from_step < each.node.start_step < stage.to_step}
    return [stage.from_step, *sorted(inside), stage.to_step]


def _height(trials, most):
    return THIN + (THICK - THIN) * math.log(max(trials, 1)) / math.log(max(most, 2))


def _checkpoint(ax):
    return {"linestyle": "none", "marker": "o", "markersize": 3.5, "color": ax.get_facecolor(), "markeredgecolor": ink(), "markeredgewidth": 0.8}


def _label_rows(ax, placed, rows):
    """Beside each row what is new in it, from where on."""
    labels = defaultdict(list)
    for each in placed:
        start = each.node.start_step
        labels[each.row].append(f"from {start}: {functions_text(each.node)}" if start else functions_text(each.node))
    texts = ["; ".join(labels[row]) for row in range(rows)]
    ax.yaxis.tick_right()
    ax.set_yticks(range(rows), [_shortened(each) for each in texts], fontsize=_label_size(ax, rows))
    ax.tick_params(axis="y", length=0, pad=8)


def _label_size(ax, rows):
    row_points = 72 * ax.get_figure().get_figheight() * ax.get_position().height / max(rows, 1)
    return min(max(LABEL_SHARE * row_points, 3), 9)


def _shortened(text):
    return text if len(text) <= LABEL_CHARACTERS_MAX else text[: LABEL_CHARACTERS_MAX - 3] + "..."


def _explain(ax, placed):
    states = {stage.state for each in placed for stage in each.node.stages}
    handles = [Patch(color=colour, label=state) for state, colour in COLOURS.items() if state in states]
    handles += [Patch(color=ink(FAINT), label="planned")] if states - set(COLOURS) else []
    handles += [Line2D([], [], label="checkpoint", **_checkpoint(ax))]
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(handles), frameon=False, borderaxespad=0)
