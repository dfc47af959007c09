"""Where a study's trials part, their segments computed by the program `espalier`."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from espalier.client import program
from espalier.client.value_types import guessed_types
from espalier.client.curves import Curve
from espalier.export.forks import Fork, Segments, Way, forks
from espalier.sequences.notation import parse
from espalier.sequences.sequence import Sequence
from espalier.sequences.values import printed

PROGRAMS_AT_ONCE = 4
TYPE_WORDS = {bool: "boolean", int: "integer", float: "floating", str: "text"}


def forks_of(curves: Iterable[Curve]) -> dict[int, Fork]:
    """`forks` of a study's trials, each taken up to its last settled step. A hyper-parameter that one of two trials leaves out
    parts them from the beginning. Raises NotFound where the program `espalier` is not installed."""
    trials = list(curves)
    horizon = max((each.steps for each in trials), default=0)
    if horizon == 0:
        return {}
    segments = _segments(trials, horizon)
    return forks(Way(each.trial, each.steps, {name: segments[name, text] for name, text in each.sequences.items()}) for each in trials)


def _segments(trials, horizon) -> dict[tuple[str, str], Segments]:
    """(hyper-parameter, text) -> segments. A hyper-parameter's values are of one type in all trials."""
    texts: dict[str, set[str]] = {}
    for each in trials:
        for name, text in each.sequences.items():
            texts.setdefault(name, set()).add(text)
    parsed = {(name, text): parse(text) for name, tried in texts.items() for text in tried}
    types = guessed_types({name: [parsed[name, text] for text in tried] for name, tried in texts.items()})
    plain = {key: ((0, printed(types[key[0]](value))),) for key, value in parsed.items() if not isinstance(value, Sequence)}
    rest = [key for key in parsed if key not in plain]
    with ThreadPoolExecutor(PROGRAMS_AT_ONCE) as pool:
        return plain | dict(zip(rest, pool.map(lambda key: _computed(key[1], TYPE_WORDS[types[key[0]]], horizon), rest)))


def _computed(text, type_word, horizon) -> Segments:
    last = f"{horizon - 1}:{horizon}"  # of which the values are printed, too
    shown = program.answer("sequence", "show", text, "--type", type_word, "--steps", last)
    return tuple((each["start"], each["function"]) for each in shown["segments"])
