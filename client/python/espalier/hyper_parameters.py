"""What a trainer declares: its hyper-parameters, their types and defaults; and their values as the protocol writes them."""

import math
from typing import NamedTuple

from espalier.failure import RequestError

INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1

# Python's type -> (enum value, field of Value) of proto/espalier/v1/schema.proto.
WIRE_TYPES = {
    bool: ("VALUE_TYPE_BOOLEAN", "boolean"),
    int: ("VALUE_TYPE_INTEGER", "integer"),
    float: ("VALUE_TYPE_FLOATING", "floating"),
    str: ("VALUE_TYPE_TEXT", "text"),
}


class HyperParameter(NamedTuple):
    """One that a trainer has. `initial`: fixed at step 0; else a sequence, which may change at any step."""

    type: type
    default: object
    initial: bool


def sequence(type, *, default):
    """A hyper-parameter that may change at any step. `type`: bool, int, float or str; `default`: of that type, what a study
    gets that leaves it out. Raises TypeError or ValueError."""
    return HyperParameter(type, checked(type, default), initial=False)


def initial(type, *, default):
    """A hyper-parameter that is fixed at step 0, such as a depth. As `sequence`."""
    return HyperParameter(type, checked(type, default), initial=True)


def checked(type, value):
    """`value` as a value of `type`: a whole number is a float, too. Raises TypeError, or ValueError for an integer of more than 64
    bits, a float that is not finite, and a text with a zero byte: studies cannot write them."""
    if type not in WIRE_TYPES:
        raise TypeError(f"a hyper-parameter is of type bool, int, float or str, not {type!r}")
    if type is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if value.__class__ is not type:
        raise TypeError(f"expected {type.__name__}, got {value!r}")
    if type is int and not INTEGER_MIN <= value <= INTEGER_MAX:
        raise ValueError(f"{value} has more than 64 bits")
    if type is float and not math.isfinite(value):
        raise ValueError(f"{value} is not finite")
    if type is str and "\0" in value:
        raise ValueError("a text with a zero byte")
    return value + 0.0 if type is float else value  # -0.0 is 0.0


SEED = initial(int, default=0)


def all_of(trainer_class):
    """Name -> HyperParameter, sorted by name, `seed` among them. Raises TypeError for a declaration that is none."""
    declared = {"seed": SEED, **trainer_class.hyper_parameters}
    for name, each in declared.items():
        if not isinstance(each, HyperParameter):
            raise TypeError(f"hyper_parameters[{name!r}]: write es.sequence(type, default=...) or es.initial(type, default=...)")
    if declared["seed"].type is not int or not declared["seed"].initial:
        raise TypeError("hyper_parameters['seed']: the seed is es.initial(int, default=...)")
    return dict(sorted(declared.items(), key=lambda item: item[0].encode()))


def to_wire(value):
    """A Value in protobuf's JSON mapping: whole numbers as texts, so that those beyond 2^53 stay exact."""
    _, field = WIRE_TYPES[type(value)]
    return {field: str(value) if type(value) is int else value}


def from_wire(values, declared):
    """Name -> Python value, of a request's `values`. Raises RequestError, which names the hyper-parameter."""
    result = {}
    for name, value in (values or {}).items():
        if name not in declared:
            raise RequestError(f"{name}: the trainer has no such hyper-parameter")
        kind = declared[name].type
        field = WIRE_TYPES[kind][1]
        written = (value or {}).get(field)
        if written is None:
            raise RequestError(f"{name}: expected a value that is {field}, got {value}")
        try:
            result[name] = checked(kind, number_from_wire(kind, written))
        except (TypeError, ValueError) as error:
            raise RequestError(f"{name}: {error}") from None
    return result


def number_from_wire(kind, written):
    """Numbers may come as texts; what is of another type is left as it is, for `checked` to refuse."""
    if kind is int and isinstance(written, str) or kind is float and isinstance(written, (int, str)):
        return kind(written)
    return written
