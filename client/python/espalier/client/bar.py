"""A study's progress while its user waits: a bar of tqdm, in notebooks too, or, where that is not installed, a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

from espalier.client.views import Progress, Summary

LINE_SECONDS = 5.0


class Bar:
    """`with Bar("name", say) as bar: bar.show(progress)`, as often as one likes."""

    def __init__(self, name: str, say: Callable[[str], None]):
        self._name = name
        self._say = say
        self._said_at = time.monotonic()
        self._tqdm = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._tqdm = tqdm(desc=name, unit="step", leave=True)

    def show(self, progress: Progress | None) -> None:
        if progress is None:
            return
        trials = _by_state(progress.trials)
        if self._tqdm is not None:
            self._draw(progress.trained_steps, progress.unique_steps, trials)
        elif time.monotonic() - self._said_at >= LINE_SECONDS:
            self._said_at = time.monotonic()
            self._say(f"{self._name}: trials {trials}; steps {progress.trained_steps} trained of {progress.unique_steps} unique")

    def finish(self, summary: Summary) -> None:
        """The study is finished: of what it needs nothing is left to be trained, whoever trained it."""
        if self._tqdm is not None:
            self._draw(summary.steps.unique, summary.steps.unique, _by_state(summary.trials))

    def _draw(self, steps, of, trials):
        if self._tqdm.total != of:
            began = self._tqdm.start_t
            self._tqdm.reset(of)  # a notebook's bar takes its end from here alone
            self._tqdm.start_t = began
        self._tqdm.n = steps
        self._tqdm.set_postfix_str(trials)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._tqdm is not None:
            self._tqdm.close()


def _by_state(trials):
    return ", ".join(f"{count} {state}" for state, count in trials.items() if count)
