"""Training one trial straight, and the same trial cut into pieces: law 1 says that nobody can tell."""

import dataclasses
import pathlib
import tempfile
import unittest

from fake_node_manager import HERE, Worker


@dataclasses.dataclass
class Trial:
    """`changes`: step -> values that change there. `updates`: of a step; None: an epoch."""

    values: dict = dataclasses.field(default_factory=dict)
    changes: dict = dataclasses.field(default_factory=dict)
    updates: int | None = 3
    steps: int = 5

    def changed_before(self, step):
        """The values that changed up to `step`, as they are at `step`."""
        result = {}
        for at in sorted(each for each in self.changes if each <= step):
            result.update(self.changes[at])
        return result


def begin(worker, trial, step=0, checkpoint=None):
    """Brings the worker to the step, as the node manager does. The values that change there are not set up yet."""
    worker.init(trial.values, trial.updates)
    worker.setup_all(trial.changed_before(max(step - 1, 0)))
    if step > 0:
        worker.load(checkpoint, step)


def begin_sooner(worker, trial, step=0, checkpoint=None):
    """The same for a worker that has begun this training before: without init, and without load where it stands at the step."""
    if step == 0:
        begin(worker, trial)
        return
    worker.proceed()
    if worker.step != step:
        worker.values = dict(worker.values_at_init)
        worker.setup_all(trial.changed_before(step - 1))
        worker.load(checkpoint, step)


def go_on(worker, trial, end, *, touch=None):
    """Trains to `end`. `touch`: called with the worker at each step, before what changes there. Returns the steps' metrics."""
    metrics = []
    while worker.step < end:
        if touch:
            touch(worker)
        if worker.step > 0 and worker.step in trial.changes:
            worker.setup(trial.changes[worker.step])
        metrics.append(worker.train())
    return metrics


class CutsTest(unittest.TestCase):
    workers_are_copies = False  # as Worker's `is_copy`

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def worker(self, trainer, environment=None, *, is_copy=None):
        is_copy = self.workers_are_copies if is_copy is None else is_copy
        worker = Worker(HERE / "trainers" / trainer, self.folder / "log", environment, is_copy=is_copy)
        self.addCleanup(worker.__exit__)
        return worker

    def straight(self, worker, trial):
        """(metrics of all steps, digest of the last state, its evaluation)."""
        begin(worker, trial)
        metrics = go_on(worker, trial, trial.steps)
        return metrics, worker.save(self.folder / "straight")["stateSha256"], worker.evaluate()

    def cut(self, workers, trial, pieces, *, is_disturbed=True, bring=begin):
        """As `straight`, cut at `pieces`, each in the next of `workers`, which `bring` brings there; all along there are evaluations and
        saves, if it is disturbed."""
        metrics, at = [], 0
        for worker, end in zip(workers, [*pieces, trial.steps]):
            bring(worker, trial, at, self.folder / f"piece-{at}")
            metrics += go_on(worker, trial, end, touch=self.evaluate_and_save if is_disturbed else None)
            at = end
            last = worker.save(self.folder / f"piece-{at}")
        return metrics, last["stateSha256"], worker.evaluate()

    def evaluate_and_save(self, worker):
        self.assertEqual(worker.evaluate(), worker.evaluate())
        worker.save(self.folder / "other")
