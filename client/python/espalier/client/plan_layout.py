"""Where the nodes of a search plan stand in a picture: one row for each way to the end, as `espalier plan show` draws it. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Placed:
    """A PlanNode. `row`: from 0, downwards; `parent`: None: it has none. `end`: the last step of its stages, at least its start."""

    node: Any
    row: int
    parent: Placed | None
    end: int


def lay_out(nodes: Iterable[Any]) -> list[Placed]:
    """Parents before children, each followed by its descendants. A node that begins where its parent ends takes its row; later branches stand
    nearer to their parent, so that lines do not cross."""
    children = defaultdict(list)
    for node in nodes:
        children[node.parent_id].append(node)
    for siblings in children.values():
        siblings.sort(key=lambda node: -node.start_step)
    placed, rows = [], 0
    stack = [(node, None) for node in reversed(children[0])]  # no recursion: a chain of nodes may be long
    while stack:
        node, parent = stack.pop()
        goes_on = parent is not None and node is children[parent.node.plan_node_id][0] and node.start_step >= parent.end
        own = Placed(node, parent.row if goes_on else rows, parent, max([node.start_step, *(stage.to_step for stage in node.stages)]))
        rows += not goes_on
        placed.append(own)
        stack += [(child, own) for child in reversed(children[node.plan_node_id])]
    return placed


def functions_text(node: Any) -> str:
    """What is new in it: "bs = 64, lr = Exponential(0.05, 0.9)"."""
    return ", ".join(f"{name} = {function}" for name, function in sorted(node.functions.items()))
