"""Figure 5.3's tuner, in the user's own hands: it stops trials early, by milestones."""

import math
from typing import NamedTuple

import espalier as es


class Milestone(NamedTuple):
    step: int
    trials: int  # that are trained so far


class Schedule:
    """`Schedule.from_milestones((5, 8), (10, 4))`: 8 trials to step 5, and the best 4 of them to step 10."""

    def __init__(self, milestones):
        self.milestones = milestones

    @classmethod
    def from_milestones(cls, *milestones):
        return cls([Milestone(*each) for each in milestones])


class EarlyStopTuner:
    """Called with a study, it trains the trials of `search_space` as the schedule says, and returns those that came to its end, the best first.
    `metric`, the higher the better, decides; of equal ones the one that was submitted first goes on; what fails does not. The study takes
    more afterwards, of this tuner or another."""

    def __init__(self, schedule, search_space, metric):
        self.schedule = schedule
        self.search_space = search_space
        self.metric = metric

    def __call__(self, study):
        first, *later = self.schedule.milestones
        last = self.schedule.milestones[-1].step
        futures = study.submit(list(self.search_space)[: first.trials], steps=first.step, horizon=last)
        for milestone in later:
            ranked = self.ranked(futures)
            for trial in ranked[milestone.trials :]:
                trial.close()
            futures = [trial.extend(milestone.step) for trial in ranked[: milestone.trials]]
        return self.ranked(futures)

    def ranked(self, futures):
        """Waits for all, and returns the trials that are done, the best first."""
        trials = {future.trial.id: future.trial for future in futures}
        done = [each for each in es.wait_all(futures) if each.state == "done"]
        return [trials[each.trial_id] for each in sorted(done, key=self.value, reverse=True)]

    def value(self, evaluation):
        """What diverged is the worst."""
        value = evaluation.value(self.metric)
        return -math.inf if math.isnan(value) else value
