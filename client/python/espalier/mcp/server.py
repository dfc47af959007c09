"""The tools, as MCP has them. With tools.py what imports mcp."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from espalier.errors import Error
from espalier.mcp.tools import Tools
from espalier.sequences.sequence import FAMILIES

INSTRUCTIONS = """Espalier tunes hyper-parameters. Trials whose values are alike up to a step are trained once up to there: what is trained is shared, so
prefer values that begin alike and change late. A study is a YAML file:

study: a-name
trainer: mlp                       # a name of `trainers`, or python:/path/train.py:Class
data: digits                       # as `trainers` says; left out: the trainer brings its own
step: epoch                        # or: 20 updates
hyper_parameters:                  # a list is tuned, a single value fixed; left out: the trainer's default
  lr: [0.1, "MultiStep(0.1, [40], 0.1)"]
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 80}}         # or sha, asha: {min: 15, max: 120, reduction: 4}; random: {trials: 20, steps: 80}

In the place of any number a range may stand, if the tuner has trials: uniform(a, b), loguniform(a, b), integer(a, b), choice(...). Steps count from 0.
First `trainers`, then `forecast`, then `submit`, then `results` with wait_seconds. Values over the steps x of a training are sequences:
"""


def serve(address: str | None, data: str | None) -> None:
    """Until standard input ends."""
    made(Tools(address, data)).run()


def made(tools: Tools) -> MCPServer:
    server = MCPServer("espalier", instructions=INSTRUCTIONS + "\n".join(map(_family, FAMILIES.values())), log_level="WARNING")
    for tool in (tools.trainers, tools.forecast, tools.studies, tools.results, tools.trial, tools.trained):
        _add(server, tool, ToolAnnotations(read_only_hint=True, open_world_hint=False))
    _add(server, tools.submit, ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False))
    _add(server, tools.cancel, ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False))
    return server


def _add(server, tool, hints):
    server.add_tool(_told(tool), description=inspect.cleandoc(tool.__doc__), annotations=hints)


def _told(tool: Callable[..., Any]) -> Callable[..., Any]:
    """What goes wrong with a request is told to who asked."""

    @functools.wraps(tool)
    def answered(*arguments, **named):
        try:
            return tool(*arguments, **named)
        except Error as error:
            raise ToolError(f"{error.code}: {error}") from error

    return answered


def _family(family) -> str:
    arguments = ", ".join(each.removesuffix("_") for each in family.__dataclass_fields__)
    return f"- {family.__name__}({arguments}): {' '.join(family.__doc__.split())}"
