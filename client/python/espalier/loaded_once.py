"""What is loaded once for the life of a process, however many trainings it begins."""

import functools

from espalier import generators

SEED = 0  # what is drawn while loading is the same for every training


def once(load):
    """A decorator: `load` runs at its first call, and gives the same object ever after, for each set of arguments. What it draws
    comes from generators that are seeded alike in every process, and leaves no trace in the training's own."""

    @functools.cache
    @functools.wraps(load)
    def loaded(*arguments, **named):
        with generators.put_back_cpu():
            generators.seed_for_sample(SEED)
            return load(*arguments, **named)

    return loaded
