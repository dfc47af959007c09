"""The loop form, for flat scripts: a function main(hp) that runs from top to bottom, is led step by step through es.steps(), and runs
again for each Init."""

import pathlib
import sys

from espalier import loaders, untracked
from espalier.failure import TrainerError
from espalier.loader import batches as batches_of
from espalier.trainer import Trainer
from espalier.turns import Turns

_current = None  # the LoopTrainer whose main runs


def loop(*, hyper_parameters=None, metrics=(), version=None, data=None, files=(), ignore_packages=(), reload=False):
    """A decorator of main(hp), which stays callable as it is. Arguments as the attributes of es.Trainer; the trainer is called as
    the script's file."""

    def decorate(main):
        main.espalier_trainer = type(pathlib.Path(main.__code__.co_filename).stem, (LoopTrainer,), {
            "__module__": main.__module__, "main": staticmethod(main), "hyper_parameters": hyper_parameters or {},
            "metrics": metrics, "version": version, "data": data, "files": files, "ignore_packages": ignore_packages, "reload": reload,
        })  # fmt: skip
        return main

    return decorate


def track(*objects, **named):
    """As Trainer.track; names are those of the variables."""
    _running("track")._tracked.add(objects, named, sys._getframe(1).f_locals)


def setup(function):
    """`function(changed)` is called with new values of sequences. Without one they are set as Trainer.set_values says."""
    _running("setup").on_setup = function
    return function


def evaluate(function):
    """`function()` measures, and returns metrics."""
    _running("evaluate").on_evaluate = function
    return function


def report(**metrics):
    """The step's metrics: `loss`, the mean over the samples, `samples`, how many there were, and what you like."""
    _running("report").reported = metrics


def batches(loader):
    """`for batch in es.batches(loader)`: one step's batches, whatever a study says that a step is."""
    return _running("batches").batches(loader)


def steps():
    """`for step in es.steps():`, the number of the step to be reached. Each turn of the loop trains one step and reports its metrics;
    what was made before the loop is what Init makes. Code behind the loop is never reached: the loop goes on for as long as steps are
    asked for, and is then left for good. `raise es.Finished` within it ends the training at the step before; to measure that one, it
    is trained again from the last checkpoint on."""
    running = _running("steps")
    running.frame = sys._getframe(1)
    return running.steps()


class LoopTrainer(Trainer):
    """The trainer that a main(hp) is. Everything of the user's runs in one thread: what PyTorch keeps for a thread stays."""

    main = None
    _outlives_train = False

    def init(self, hp):
        global _current
        _current = self
        self.on_setup, self.on_evaluate = self.set_values, None
        self.reported, self.frame = {}, None
        self._turns = Turns(lambda: self._run(hp), at_end=loaders.drop_fetched)
        self._turns.start()

    def setup(self, changed):
        self._turns.call(lambda: self.on_setup(changed))

    def evaluate(self):
        if self.on_evaluate is None:
            raise TrainerError("main() has given no function to es.evaluate()")
        return self._turns.call(lambda: self.on_evaluate())

    def train(self):
        self.reported = None
        self._turns.call(None)
        if self.reported is None:
            raise TrainerError("the step has reported nothing: es.report(loss=..., samples=...)")
        return self.reported

    def _close(self):
        self._turns.abandon()
        self.frame = None

    def _visible(self):
        return dict(self.frame.f_locals)

    def steps(self):
        plain = untracked.plain(self.frame.f_locals)
        answer, error = None, None
        while True:
            call = self._turns.wait(answer, error)
            answer, error = None, None
            if call is None:
                yield self._step
                untracked.warn_of_variables(plain, self.frame.f_locals)
                continue
            try:
                answer = call()
            except BaseException as raised:
                error = raised

    def _run(self, hp):
        self.main(hp)
        raise TrainerError("main() has ended: `for step in es.steps():` must not be left by break or return; "
                           "`raise es.Finished` ends the training")  # fmt: skip


def _running(name):
    if _current is None:
        raise TrainerError(f"es.{name}() is for the main(hp) that a worker runs, decorated with @es.loop(...)")
    return _current
