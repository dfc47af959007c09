"""One training: a trainer between Init and the next Init, and what every trainer gets from the package: seeds, saved state, and an
evaluation that leaves no trace. Not for several threads."""

import contextlib

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from espalier import generators, loaders, module, optimizer, state, untracked
from espalier.changes import Changes
from espalier.failure import CheckpointError, TrainerError, is_out_of_memory

TRAINING = "espalier.training"  # the key of what is not tracked; no attribute has such a name


class Training:
    """`identity`: a tree that is equal for the trainings whose states may be loaded here. `watched`: says on standard error what
    changes and is not tracked."""

    def __init__(self, trainer, identity, sequences, watched=False):
        self._trainer = trainer
        self._identity = identity
        self._sequences = sequences  # names
        self._tracked = trainer._tracked
        self._watched = watched
        self._changes_said = Changes(trainer).said if watched else contextlib.nullcontext
        self.step = 0
        self.is_set_up = False

    def init(self, values):
        """`values`: of all hyper-parameters at step 0."""
        generators.seed_all(values["seed"])
        loaders.begin()
        self._trainer._values_at_init = values
        self._trainer.init(dict(values))
        loaders.end_init()
        for each in self._tracked.of_type(Optimizer):
            optimizer.options_of(each)
        self._check_schedulers(self._sequences)
        self._clear_gradients()
        if not self._watched:  # else what changes is said, and not what might
            untracked.warn_of_attributes(self._tracked, self._trainer._visible())
        self._globals = untracked.Globals(type(self._trainer), tracked=[each for _, each in self._tracked.objects()])

    def setup(self, values):
        before = {each: optimizer.plain_options(each) for each in self._tracked.of_type(Optimizer)}
        self._trainer.setup(values)
        for each, options in before.items():
            self._check_schedulers(optimizer.options_of(each).note_changes(each, options), optimizer.innermost(each))
        loaders.drop_fetched()
        self.is_set_up = True

    def train(self):
        """One step. Gradients last no longer than a step: they are no part of the state. Returns metrics. Raises Finished if the trainer
        does: then the step was not trained."""
        self._trainer._step = self.step + 1
        try:
            with self._changes_said("train()"):
                metrics = checked_metrics("train()", self._trainer.train(), ("loss", "samples"))
        finally:
            self._clear_gradients()
        self._globals.check()
        untracked.warn_of_loaders(self._tracked, loaders.read_by_training())
        self.step += 1
        return metrics

    def stands_when_finished(self):
        """Whether it can still be evaluated and saved when `train` has raised Finished."""
        return self._trainer._outlives_train

    def evaluate(self):
        """Returns metrics. Leaves everything as it was, also when the trainer fails."""
        with self._put_back_tracked(), generators.put_back(), loaders.put_back(), torch.set_grad_enabled(torch.is_grad_enabled()):
            with self._changes_said("evaluate()"):
                return checked_metrics("evaluate()", self._trainer.evaluate(), type(self._trainer).metrics)

    def save(self, spare=None):
        """Named arrays: a copy of the whole state. `spare`: an earlier one, whose memory it may take."""
        own = {"step": self.step, "identity": self._identity, "generators": generators.capture()}
        return state.flatten({TRAINING: own, **self._tracked.capture()}, spare)

    def load(self, arrays, of_other_code=False):
        """Raises CheckpointError if they are of another training, but for a state of other code that is meant to be gone on from."""
        try:
            saved = state.unflatten(arrays)
            own = saved.pop(TRAINING)
            if own["identity"] != self._identity and not of_other_code:
                raise CheckpointError(f"it is of another training: {_first_difference(own['identity'], self._identity)}")
            self._tracked.restore(saved)
            generators.restore(own["generators"])
            self.step = own["step"]
        except (ValueError, KeyError, TypeError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise
            raise CheckpointError(f"the state does not fit the trainer: {type(error).__name__}: {error}") from error

    def close(self):
        """Ends the loaders' processes and what the trainer runs."""
        loaders.drop_fetched()
        self._trainer._close()

    def _clear_gradients(self):
        for each in self._tracked.of_type(nn.Module):
            each.zero_grad(set_to_none=True)
        for each in self._tracked.of_type(Optimizer):
            each.zero_grad(set_to_none=True)

    @contextlib.contextmanager
    def _put_back_tracked(self):
        """Modules' modes, and the trainer's own generators."""
        drawn = [(each, generators.capture_one(each)) for _, each in self._tracked.objects() if generators.is_one(each)]
        modes = [(each, [part.training for part in each.modules()]) for each in self._tracked.of_type(nn.Module)]
        try:
            yield
        finally:
            for each, training in modes:
                module.put_back_modes(each, training)
            for each, captured in drawn:
                generators.restore_one(each, captured)

    def _check_schedulers(self, written, written_on=None):
        """A value is written by Setup or by a scheduler, not by both: else which one holds would depend on where training is cut."""
        for key, each in self._tracked.objects():
            each = getattr(each, "scheduler", each)  # within accelerate's wrapper
            if isinstance(each, LRScheduler) and written_on in (None, each.optimizer):
                writes = {"lr", "momentum"} if getattr(each, "cycle_momentum", False) else {"lr"}
                if both := sorted(writes & set(written)):
                    raise TrainerError(f"{key}: a scheduler writes {both[0]}, and so does a hyper-parameter: track no scheduler, and "
                                       "let the study say the values, or leave out the hyper-parameter")  # fmt: skip


def checked_metrics(call, metrics, names):
    """Name -> float. Raises TrainerError for what is no dict of numbers, and where one of `names` is missing."""
    if not isinstance(metrics, dict):
        raise TrainerError(f"{call} returned {type(metrics).__qualname__}: return a dict of metrics")
    for name in names:
        if name not in metrics:
            raise TrainerError(f"{call} returned no metric {name!r}; it returned {', '.join(map(repr, metrics)) or 'none'}")
    try:
        return {str(name): float(value) for name, value in metrics.items()}
    except (TypeError, ValueError) as error:
        raise TrainerError(f"{call} returned a metric that is no number: {error}") from None


def _first_difference(saved, own):
    return next(f"{key} {saved.get(key)!r}, here {own[key]!r}" for key in own if saved.get(key) != own[key])
