"""A study's progress while its user waits: a bar of tqdm, in notebooks too, or, where that is not installed, a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

from espalier.client.views import Progress

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
        trials = ", ".join(f"{count} {state}" for state, count in progress.trials.items() if count)
        if self._tqdm is not None:
            self._tqdm.total = progress.unique_steps
            self._tqdm.n = progress.trained_steps
            self._tqdm.set_postfix_str(trials)
        elif time.monotonic() - self._said_at >= LINE_SECONDS:
            self._said_at = time.monotonic()
            self._say(f"{self._name}: trials {trials}; steps {progress.trained_steps} trained of {progress.unique_steps} unique")

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
