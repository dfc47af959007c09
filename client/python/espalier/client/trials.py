"""The trials of a study, read in pages as they are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from espalier.client.protocol import number_of
from espalier.client.trial import Trial

if TYPE_CHECKING:
    from espalier.client.study import Study

PAGE = 1000
ORDERS = {"submission": "TRIAL_ORDER_SUBMISSION", "metric": "TRIAL_ORDER_METRIC"}


class Trials:
    """`for trial in study.trials`, as they were submitted; `study.trials.best_first()`, `study.trials.that_are("done", "failed")`. Each time
    it is looked at they are read anew."""

    def __init__(self, study: Study, order: str = "submission", states: tuple[str, ...] = ()):
        self._study = study
        self._order = order
        self._states = states

    def best_first(self) -> Trials:
        """By `Trial.metric`, the best by the study's goal first; then those without one, or with NaN."""
        return Trials(self._study, "metric", self._states)

    def that_are(self, *states: str) -> Trials:
        """Only those in one of these states: waiting, running, idle, done, failed, cancelled."""
        return Trials(self._study, self._order, states)

    def first(self, count: int = 1) -> list[Trial]:
        """At most so many."""
        return [trial for trial, _ in zip(self._pages(min(count, PAGE)), range(count))]

    def __iter__(self) -> Iterator[Trial]:
        return self._pages(PAGE)

    def __len__(self):
        by_state = self._study.show().trials
        return sum(count for state, count in by_state.items() if not self._states or state in self._states)

    def __getitem__(self, index: int) -> Trial:
        """Reads up to there."""
        if index < 0:
            return list(self)[index]
        return self.first(index + 1)[index]

    def _pages(self, size):
        order = number_of("TrialOrder", ORDERS[self._order])
        for page in self._study.client.connection.pages("ListTrials", study_id=self._study.id, page_size=size, states=self._states, order=order):
            yield from (Trial(self._study, wire.trial_id, wire) for wire in page.trials)
