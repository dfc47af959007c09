"""The kinds of arguments that families have, each with its check: what it gives back is what is kept and printed. Where a number or a
text is expected, a range may stand in its place. All raise InvalidArgument."""

from collections.abc import Sequence as List

from espalier.errors import InvalidArgument
from espalier.sequences.values import Value, plain, shown

STEP_MAX = 2**53
SHAPES = ("linear", "cosine", "sqrt", "square", "mirror_cosine")
ANNEALS = ("cos", "linear")


class Open:
    """What stands for a value that is not chosen yet: a range."""


# For annotations: what a user may write.
Number = float | Open
Positive = float | Open
Fraction = float | Open
Count = int | Open
CountOrNone = int | Open
Boolean = bool | Open
Shape = str | Open
Anneal = str | Open
Any = Value | Open
Anys = List[Value]
Milestones = List[int]


def number(value):
    if isinstance(value, Open):
        return value
    checked = plain(value)
    if isinstance(checked, (bool, str, type(None))):
        raise InvalidArgument(f"expected a number, got {shown(value)}")
    return checked


def positive(value):
    return _that(number(value), lambda checked: checked > 0, "a number greater than 0")


def fraction(value):
    return _that(number(value), lambda checked: 0 < checked < 1, "a number between 0 and 1")


def count(value, least=1):
    checked = _that(number(value), lambda checked: checked == int(checked) and least <= checked <= STEP_MAX,
                    f"a whole number from {least} to 2^53")  # fmt: skip
    return checked if isinstance(checked, Open) else int(checked)


def count_or_none(value):
    return count(value, least=0)


def boolean(value):
    checked = value if isinstance(value, Open) else plain(value)
    return _that(checked, lambda checked: isinstance(checked, bool), "True or False", value)


def shape(value):
    return _that(value, lambda checked: checked in SHAPES, f"one of {', '.join(SHAPES)}")


def anneal(value):
    return _that(value, lambda checked: checked in ANNEALS, f"one of {', '.join(ANNEALS)}")


def any_value(value):
    checked = value if isinstance(value, Open) else plain(value)
    return _that(checked, lambda checked: checked is not None, "a number, a text, True or False", value)


def any_values(values):
    return tuple(any_value(each) for each in listed(values, "a list of at least one value"))


def milestones(values):
    steps = tuple(count(each) for each in listed(values, "a list of steps", may_be_empty=True))
    known = [step for step in steps if not isinstance(step, Open)]
    for before, after in zip(known, known[1:]):
        if after <= before:
            raise InvalidArgument(f"must be strictly increasing, got {after} after {before}")
    return steps


def listed(values, expected, may_be_empty=False):
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        raise InvalidArgument(f"expected {expected}, got {shown(values)}")
    found = list(values)
    if not found and not may_be_empty:
        raise InvalidArgument(f"expected {expected}, got none")
    return found


def _that(checked, holds, expected, given=None):
    if isinstance(checked, Open) or holds(checked):
        return checked
    raise InvalidArgument(f"expected {expected}, got {shown(checked if given is None else given)}")


# By the name of the annotation. Those of sequences are added where sequences are.
CHECKS = {
    "Number": number, "Positive": positive, "Fraction": fraction, "Count": count, "CountOrNone": count_or_none, "Boolean": boolean,
    "Shape": shape, "Anneal": anneal, "Any": any_value, "Anys": any_values, "Milestones": milestones,
}  # fmt: skip
