"""Where a picture is drawn, and in which colours."""

from __future__ import annotations

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator


def axes_on(ax: Axes | None, width: float, height: float) -> Axes:
    """`ax`, else that of a new figure of so many inches."""
    return ax if ax is not None else pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def ink(strength: float = 1.0) -> tuple[float, float, float, float]:
    """What the style writes with, so strong on its ground: 0 to 1."""
    return to_rgba(matplotlib.rcParams["text.color"], strength)


def label_steps(ax: Axes) -> None:
    ax.set_xlabel("step")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
