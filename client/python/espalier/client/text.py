"""Numbers, times and tables for people, as the command line prints them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def count(number: int) -> str:
    return f"{number:,}"


def number(value: float) -> str:
    return f"{value:.5g}"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def byte_count(size: int) -> str:
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def visible(text: str) -> str:
    """On one line, without what moves a terminal's cursor or changes its colours: control characters as "\\n" or "\\x1b"."""
    return CONTROL.sub(lambda match: {"\n": "\\n", "\t": "\\t"}.get(match[0], f"\\x{ord(match[0]):02x}"), text)


def table(rows: Iterable[Sequence[str]]) -> str:
    """Columns beside each other; the first row is the head."""
    listed = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in listed) for column in range(len(listed[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in listed)


def html_table(rows: Iterable[Sequence[str]]) -> str:
    """The same for notebooks, in the colours that they have."""
    head, *listed = [[html.escape(cell) for cell in row] for row in rows]
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in listed)
    return f"<table><thead><tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr></thead><tbody>{body}</tbody></table>"
