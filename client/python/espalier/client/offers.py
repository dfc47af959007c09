"""What the service has to train with: servers, and the trainers that they offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from espalier.client.value_types import TYPES
from espalier.sequences.values import Value


@dataclass(frozen=True)
class Server:
    """`slots`: how many runs it trains at once; `busy_slots` of them are held. `draining`: it is given no new run. `trouble`: what keeps
    its runs from going on, for people; empty: nothing."""

    name: str
    connected: bool
    slots: int
    busy_slots: int
    draining: bool
    trouble: str


class Declared(NamedTuple):
    """A hyper-parameter of a trainer. `initial`: fixed at step 0; else it may change at any step."""

    type: type
    default: Value
    initial: bool


@dataclass(frozen=True)
class TrainerOffer:
    """A trainer with one data set. `takes_any`: it also takes hyper-parameters that it does not declare."""

    name: str
    data: str
    hyper_parameters: dict[str, Declared]
    metrics: list[str]
    takes_any: bool


def server_of(wire: Any) -> Server:
    return Server(wire.name, wire.connected, wire.slot_count, wire.busy_slot_count, wire.draining, wire.trouble)


def trainer_of(wire: Any) -> TrainerOffer:
    def declared(each):
        value = each.default_value
        return Declared(TYPES[each.type], getattr(value, value.WhichOneof("kind") or "text"), each.initial)

    return TrainerOffer(wire.name, wire.data, {each.name: declared(each) for each in wire.hyper_parameters}, list(wire.metrics),
                        wire.takes_any)  # fmt: skip
