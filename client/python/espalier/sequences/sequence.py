"""A sequence: the values of one hyper-parameter over the steps of a training, as a call of a family. Immutable; two are equal if they are
written alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, dataclass_transform

from espalier.errors import InvalidArgument
from espalier.sequences import arguments
from espalier.sequences.values import plain, printed, shown

FAMILIES: dict[str, type[Sequence]] = {}


@dataclass_transform(eq_default=False, frozen_default=True)
class Sequence:
    """What every family is. `str` gives the notation, which `es.parse` reads back. A subclass is a family: its fields are its
    arguments, and their annotations say how they are checked."""

    def __init_subclass__(cls):
        dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
        FAMILIES[cls.__name__] = cls

    def __post_init__(self):
        for field in dataclasses.fields(self):
            try:
                checked = arguments.CHECKS[field.type](getattr(self, field.name))
            except InvalidArgument as error:
                raise InvalidArgument(f"{type(self).__name__}: {field.name}: {error.message}") from None
            object.__setattr__(self, field.name, checked)

    def __str__(self):
        return self._call(written)

    def __repr__(self):
        return f"es.{self._call(_in_python)}"

    def _call(self, write):
        """Arguments that have no default by position, others by name, and only where they differ from it."""
        shown = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.default is dataclasses.MISSING:
                shown.append(write(value))
            elif written(value) != written(arguments.CHECKS[field.type](field.default)):
                shown.append(f"{field.name}={write(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other):
        return isinstance(other, Sequence) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def replaced(self, replace) -> Sequence:
        """The same with `replace(range)` for each range in it."""
        return type(self)(**{field.name: replaced(getattr(self, field.name), replace) for field in dataclasses.fields(self)})

    def open_places(self) -> Iterator[Any]:
        """Every range in it, in the order in which they are written."""
        for field in dataclasses.fields(self):
            yield from open_places(getattr(self, field.name))


def as_expression(value):
    """A sequence or a range as it is, a plain value as bool, int, float or str. Raises InvalidArgument for anything else."""
    if isinstance(value, (Sequence, arguments.Open)):
        return value
    checked = plain(value)
    if checked is None:
        raise InvalidArgument("expected a number, a text, True, False, or a sequence such as es.Exponential(0.1, 0.95), "
                              f"got {shown(value)}")  # fmt: skip
    return checked


def as_expressions(values):
    return tuple(as_expression(each) for each in arguments.listed(values, "a list of at least one sequence"))


def written(value):
    """In the notation: a value, a sequence, a range, or a list of them."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(written, value))}]"
    return str(value) if isinstance(value, (Sequence, arguments.Open)) else printed(value)


def _in_python(value):
    return f"[{', '.join(map(_in_python, value))}]" if isinstance(value, tuple) else repr(value)


def open_places(value):
    """Every range in a value, a sequence, or a tuple of them."""
    if isinstance(value, arguments.Open):
        yield value
    elif isinstance(value, Sequence):
        yield from value.open_places()
    elif isinstance(value, tuple):
        for each in value:
            yield from open_places(each)


def replaced(value, replace):
    if isinstance(value, arguments.Open):
        return replace(value)
    if isinstance(value, Sequence):
        return value.replaced(replace)
    return tuple(replaced(each, replace) for each in value) if isinstance(value, tuple) else value


arguments.CHECKS.update(Expression=as_expression, Expressions=as_expressions)
