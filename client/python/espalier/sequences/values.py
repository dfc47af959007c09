"""Plain values of hyper-parameters - booleans, whole numbers, floating numbers, texts - and how the notation writes them: the same
characters as the service's programs print."""

import math
import numbers
import re

from espalier.errors import InvalidArgument

INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1
SHOWN_MAX = 80  # characters of what was given, in messages

Value = bool | int | float | str

ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
TO_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f]')


def plain(value):
    """`value` as one of bool, int, float and str: NumPy's scalars, too. None if it is of no such kind. Raises InvalidArgument for
    what no study can write: numbers that are not finite or have more than 64 bits, texts with a zero byte."""
    if isinstance(value, (bool, str)):
        return _checked_text(value) if isinstance(value, str) else value
    if type(value).__name__ in ("bool_", "bool") and hasattr(value, "item"):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return _checked_integer(int(value))
    if isinstance(value, numbers.Real):
        return _checked_float(float(value))
    return None


def is_number(value):
    """Whether it is an int or a float, and no bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def printed(value):
    """As the notation writes it: true, 32, 0.1 (the shortest form that reads back; a floating whole number as 1.0), "text".
    `value`: as `plain` gives it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + TO_ESCAPE.sub(lambda match: ESCAPES.get(match[0]) or f"\\x{ord(match[0]):02x}", value) + '"'
    return _printed_float(value) if isinstance(value, float) else str(value)


def shown(value):
    """For messages: what was given, cut short."""
    text = repr(value)
    return text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + "..."


def _printed_float(value):
    """Of fixed and scientific the shorter one, fixed if they are equally long."""
    sign, rest = ("-", repr(-value)) if value < 0 else ("", repr(value))
    mantissa, _, exponent = rest.partition("e")
    whole, _, fraction = mantissa.partition(".")
    all_digits = whole + fraction
    digits = all_digits.strip("0") or "0"
    # value = 0.DIGITS * 10**point
    point = len(whole) + int(exponent or 0) - (len(all_digits) - len(all_digits.lstrip("0"))) if digits != "0" else 1
    scientific = digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{'-' if point < 1 else '+'}{abs(point - 1):02d}"
    if point <= 0:
        fixed = "0." + "0" * -point + digits
    elif point >= len(digits):
        fixed = str(int(abs(value)))
    else:
        fixed = f"{digits[:point]}.{digits[point:]}"
    if len(scientific) < len(fixed):
        return sign + scientific
    return sign + (fixed if "." in fixed else fixed + ".0")


def _checked_integer(value):
    if not INTEGER_MIN <= value <= INTEGER_MAX:
        raise InvalidArgument(f"expected a whole number of at most 64 bits, got {shown(value)}")
    return value


def _checked_float(value):
    if not math.isfinite(value):
        raise InvalidArgument(f"expected a finite number, got {value!r}")
    return value + 0.0  # -0.0 is 0.0


def _checked_text(value):
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"expected a text in UTF-8, got {shown(value)}") from None
    if "\0" in value:
        raise InvalidArgument(f"expected a text without zero bytes, got {shown(value)}")
    return str(value)
