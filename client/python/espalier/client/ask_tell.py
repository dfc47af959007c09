"""Studies that the user's own tuner drives, in the user's process: it proposes trials, and is told what they come to."""

from __future__ import annotations

import heapq
import itertools
import queue
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from espalier.client.batches import MORE_STEPS_MAX, Batch, new_trial, whole_steps
from espalier.client.evaluation import Evaluation
from espalier.client.future import Future
from espalier.errors import AlreadyExists, FailedPrecondition, InvalidArgument

if TYPE_CHECKING:
    from espalier.client.study import Study
    from espalier.client.trial import Trial

Proposal = Mapping[str, Any]


class Tuner(Protocol):
    """What `study.drive` needs."""

    def ask(self) -> Proposal | None:
        """The next trial's hyper-parameters; None: no more, at least not before more is told."""

    def tell(self, proposal: Proposal, evaluation: Evaluation) -> bool | None:
        """What `ask` gave, measured at one of the steps asked for: each step once, in step order. False: the trial shall stop, and its
        later steps are not told any more."""


class Told(NamedTuple):
    """A trial's evaluation, and what it was proposed with. `is_last`: at the trial's last step, or of one that failed."""

    trial: Trial
    proposal: Proposal
    evaluation: Evaluation
    is_last: bool


class AskTell:
    """Made by `study.ask_tell(at=...)`. Submit proposals, and iterate over what they come to; the iteration ends when nothing is waited
    for any more, so submit on the way. Not for several threads.

    A process that is started again goes on where the one before it ended: what the n-th submission asked for then, and asks for now, are the
    same trials, of which everything is told again, in the same order. So a tuner that is told the same and proposes the same, as one with a
    seed does, comes to where it was. From where it proposes something else, its trials are new ones."""

    def __init__(self, study: Study, at: Iterable[int] | int, name: str):
        """`name`: which of the study's tuners this is, for the process and for those that are started after it."""
        self._study = study
        self._name = name
        self._request_ids = (f"{name}/{number}" for number in itertools.count())
        self._at = [at] if isinstance(at, int) else list(at)
        for step in self._at:
            whole_steps(step, "at")
        if not self._at or any(after <= before for before, after in zip(self._at, self._at[1:])):
            raise InvalidArgument(f"expected one step, or several in increasing order, got {at!r}", "at")
        self._asked: dict[int, _Asked] = {}  # by trial, until the last is told of it
        self._arriving: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._arrived: list[tuple[int, int, Future]] = []  # a heap, by the order of the study's events
        self._ready: deque[Told] = deque()

    @property
    def open_count(self) -> int:
        """Trials that are not yet at their last step."""
        return len(self._asked)

    def submit(self, proposal: Proposal) -> Trial:
        """A new trial, measured at each of the steps `at`. Raises InvalidArgument, FailedPrecondition."""
        return self.submit_all([proposal])[0]

    def submit_all(self, proposals: Iterable[Proposal]) -> list[Trial]:
        """Several at once."""
        listed = list(proposals)
        first, *more = self._at
        more, later = tuple(more[:MORE_STEPS_MAX]), more[MORE_STEPS_MAX:]
        new_trials = [new_trial(each, first, self._at[-1], f"trials[{index}]") for index, each in enumerate(listed)]
        batch = Batch(new_trials=[replace(each, more_steps=more) for each in new_trials])
        if not listed:
            return []
        self._study.create(listed)
        claimed = self._submit(batch)
        at_once = 1 + len(more)
        trials = [future.trial for future in claimed[::at_once]]
        laters = [self._submit(Batch(claims=[(trial.id, step) for trial in trials])) for step in later]
        for index, (trial, proposal) in enumerate(zip(trials, listed)):
            self._asked[trial.id] = _Asked(trial, proposal, deque(self._at))
            for future in (*claimed[index * at_once : (index + 1) * at_once], *(each[index] for each in laters)):
                future.add_done_callback(self._arriving.put)
        return trials

    def stop(self, trial: Trial) -> None:
        """Withdraws it: nothing more is told of it."""
        if self._asked.pop(trial.id, None) is not None:
            self._study._submit(Batch(cancel=[trial.id]), f"{self._name}/stop/{trial.id}")

    def _submit(self, batch):
        try:
            return self._study._submit(batch, next(self._request_ids))
        except AlreadyExists as error:
            if error.field != "request_id":
                raise
            return self._study._submit(batch)  # the process before had asked for something else

    def __iter__(self) -> Iterator[Told]:
        while self._asked:
            if not self._ready:
                self._take(self._next())
                continue
            told = self._ready.popleft()
            if told.trial.id in self._asked:  # it may have been stopped since
                if told.is_last:
                    del self._asked[told.trial.id]
                yield told

    def _next(self):
        """The settled future whose event came first, of all that have arrived."""
        arrived = [] if self._arrived else [self._arriving.get()]
        while not self._arriving.empty():
            arrived.append(self._arriving.get())
        for future in arrived:
            heapq.heappush(self._arrived, (future.order, id(future), future))
        return heapq.heappop(self._arrived)[2]

    def _take(self, future):
        """Of one trial the steps are told in their order, whichever is measured first."""
        asked = self._asked.get(future.trial.id)
        evaluation = future.evaluation()
        if asked is None:
            return
        if evaluation.state != "done":
            self._ready.append(Told(asked.trial, asked.proposal, evaluation, is_last=True))
            return
        asked.measured[evaluation.step] = evaluation
        while asked.left and asked.left[0] in asked.measured:
            next_one = asked.measured.pop(asked.left.popleft())
            self._ready.append(Told(asked.trial, asked.proposal, next_one, is_last=not asked.left))


class _Asked:
    def __init__(self, trial, proposal, left):
        self.trial, self.proposal, self.left = trial, proposal, left
        self.measured: dict[int, Evaluation] = {}


def drive(study: Study, tuner: Tuner, at: Iterable[int] | int, at_once: int, trials: int | None) -> None:
    """As Study.drive says."""
    if isinstance(at_once, bool) or not isinstance(at_once, int) or at_once < 1:
        raise InvalidArgument(f"expected a whole number of at least 1, got {at_once!r}", "at_once")
    session = study.ask_tell(at)
    proposed = 0

    def propose():
        nonlocal proposed
        wanted = []
        while session.open_count + len(wanted) < at_once and (trials is None or proposed < trials):
            if (proposal := tuner.ask()) is None:
                break
            wanted.append(proposal)
            proposed += 1
        session.submit_all(wanted)

    propose()
    for told in session:
        if tuner.tell(told.proposal, told.evaluation) is False and not told.is_last:
            session.stop(told.trial)
        propose()
    if not proposed:
        raise FailedPrecondition("the tuner proposed no trial")
    study.finish()
