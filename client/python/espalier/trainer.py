"""The class form: what a user writes to bring training code."""

from typing import NamedTuple

from torch.optim import Optimizer

from espalier import optimizer
from espalier.failure import TrainerError
from espalier.loader import ResumableLoader, batches
from espalier.tracking import Tracked

BATCH_SIZE_NAMES = ("bs", "batch_size")


class StepMeaning(NamedTuple):
    """What one step is: an epoch (`updates` is None), or so many updates of the parameters."""

    updates: int | None


class Trainer:
    """Subclass it, and write init, train and evaluate. Calls come in this order: at step 0 init, setup (all sequences' values); at
    step s evaluate, saving, setup (the values that change at s), train. To resume at s: init (with the values of step 0), setup
    (all values of s - 1), loading, setup (those that change at s); with `reload`, where a trainer with the same values at step 0
    stands in the process, without init."""

    hyper_parameters = {}  # name -> es.sequence(...) or es.initial(...); `seed` is always there
    metrics = ()  # names of what evaluate returns; optional: then a study's metric is checked before anything is trained
    version = None  # a text, which replaces the digest of the sources
    data = None  # es.files(...), or a text that names the data's version
    files = ()  # paths of other files that the code depends on, seen from the class's file
    ignore_packages = ()  # distributions whose versions do not count
    reload = False  # a trainer that has trained may load a state without init: saves time; `espalier trainer check` says if it does

    is_named_by_variable = False  # made by a function of this package, it is called as the variable that holds it
    _outlives_train = True  # after an exception of `train` it can still be evaluated and saved

    def __init__(self, step_meaning):
        self.step_meaning = step_meaning
        self._tracked = Tracked(vars(self))
        self._values_at_init = None
        self._step = 0  # to be reached by train()

    def init(self, hp):
        """Makes model, optimizer and loaders, and tracks them. `hp`: name -> value of every hyper-parameter at step 0."""
        raise NotImplementedError

    def setup(self, changed):
        """New values of sequences hold from here: by default as `set_values` says."""
        self.set_values(changed)

    def train(self):
        """One step. Returns metrics: "loss", the mean over the samples, "samples", how many there were, and what you like. Raises
        es.Finished, before it draws or changes anything, if there is nothing more to train: then whoever asks for more steps is answered
        with the metrics of the last one."""
        raise NotImplementedError

    def evaluate(self):
        """Measures. Returns metrics. Modes, generators and loaders are put back afterwards."""
        raise NotImplementedError

    def track(self, *objects, **named):
        """What belongs to the state: modules, optimizers, schedulers, loaders, generators, tensors, what has state_dict and
        load_state_dict; lists and dicts of those. Its name in the state is the attribute's name, or the one given."""
        self._tracked.add(objects, named, vars(self))

    def track_attributes(self, *names):
        """Attributes that are plain values and belong to the state, such as counters."""
        self._tracked.add_attributes(names)

    def batches(self, loader):
        """`for batch in self.batches(self.loader)`: one step's batches, whatever a study says that a step is."""
        tracked = [each.position for each in self._tracked.of_type(ResumableLoader)]
        if isinstance(loader, ResumableLoader) and loader.position not in tracked:
            raise TrainerError("batches(): the loader is not tracked, so its place in the data would be lost: self.track(loader)")
        return batches(loader, self.step_meaning.updates)

    def _visible(self):
        """Name -> object of all that init has made."""
        return vars(self)

    def _close(self):
        """This training is over: the process begins another, or ends."""

    def takes(self, name):
        """Whether `set_values` can set a hyper-parameter of this name."""
        return bool(self._optimizers_with(name)) or (name in BATCH_SIZE_NAMES and bool(self._tracked.of_type(ResumableLoader)))

    def _optimizers_with(self, name):
        return [each for each in self._tracked.of_type(Optimizer) if all(name in group for group in each.param_groups)]

    def set_values(self, changed):
        """Sets a value where its name says: an option of tracked optimizers (lr, momentum, weight_decay, ...), per parameter group in
        proportion to the group's own at Init; `bs` or `batch_size` of tracked loaders. Raises TrainerError for other names."""
        for name, value in changed.items():
            if not self.takes(name):
                raise TrainerError(f"nothing that is tracked takes the hyper-parameter {name}: set it in setup()")
            for each in (optimizers := self._optimizers_with(name)):
                optimizer.options_of(each).set(each, name, value, self._values_at_init[name])
            for each in () if optimizers else self._tracked.of_type(ResumableLoader):
                each.batch_size = value
