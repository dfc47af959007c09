"""The generators of random numbers that a process has: Python's, NumPy's (where NumPy is imported, as by PyTorch wherever it is
installed), and PyTorch's on the CPU and each CUDA device in use."""

import contextlib
import hashlib
import random
import sys

import torch


def numpy_random():
    """NumPy's `random`, or None where there is no NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy and numpy.random


def seed_all(seed):
    """Seeds every generator with one integer; PyTorch's as torch.manual_seed(seed) does."""
    torch.manual_seed(seed)
    _seed_others(seed)


def seed_of(*place):
    """A seed of 63 bits from integers and texts: each place has draws of its own, whatever was drawn before."""
    digest = hashlib.sha256("\0".join(map(str, place)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def seed_for_sample(*place):
    """Sets the generators of the CPU alone, as fast as can be: it runs before every sample."""
    seed = seed_of(*place)
    torch.default_generator.manual_seed(seed)
    _seed_others(seed)


def _seed_others(seed):
    random.seed(seed % 2**64)
    if numpy := numpy_random():
        numpy.seed(seed % 2**32)


def is_one(each):
    """Whether `each` is a generator of a trainer's own."""
    if isinstance(each, (torch.Generator, random.Random)):
        return True
    numpy = numpy_random()
    return numpy is not None and isinstance(each, (numpy.Generator, numpy.RandomState))


def is_of_process(each):
    """Whether `each` is one of those that `capture` captures."""
    numpy = numpy_random()
    return each in (torch.default_generator, random._inst) or (numpy is not None and each is numpy.mtrand._rand)


def capture_one(generator):
    """The state of a trainer's own generator, as a tree that a state can hold."""
    if isinstance(generator, torch.Generator):
        return generator.get_state()
    if isinstance(generator, random.Random):
        return generator.getstate()
    return _with_arrays(_bits(generator).state, torch.from_numpy)


def restore_one(generator, captured):
    if isinstance(generator, torch.Generator):
        generator.set_state(captured)
    elif isinstance(generator, random.Random):
        generator.setstate(captured)
    else:
        _bits(generator).state = _with_arrays(captured, torch.Tensor.numpy)


def mark_of(generator):
    """Equal as long as nothing is drawn."""
    return _with_arrays(capture_one(generator), lambda array: array if isinstance(array, tuple) else array.tolist())


def _bits(generator):
    """What holds a NumPy generator's state."""
    return getattr(generator, "bit_generator", None) or generator._bit_generator


def _with_arrays(tree, converted):
    """NumPy's nested state, its arrays converted."""
    if isinstance(tree, dict):
        return {key: _with_arrays(value, converted) for key, value in tree.items()}
    return tree if isinstance(tree, (int, float, str)) else converted(tree)


def capture_cpu():
    """The states of the CPU's generators, as a tree that a state can hold."""
    captured = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if numpy := numpy_random():
        name, keys, *rest = numpy.get_state()
        captured["numpy"] = (name, torch.from_numpy(keys.copy()), *rest)
    return captured


def restore_cpu(captured):
    random.setstate(captured["python"])
    torch.set_rng_state(captured["torch"])
    if (numpy := numpy_random()) and "numpy" in captured:
        name, keys, *rest = captured["numpy"]
        numpy.set_state((name, keys.numpy(), *rest))


def capture():
    """The states of all generators. CUDA's are there once CUDA is used."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    return {**capture_cpu(), "cuda": cuda}


def restore(captured):
    restore_cpu(captured)
    if captured["cuda"]:
        torch.cuda.set_rng_state_all(captured["cuda"])


@contextlib.contextmanager
def put_back(capture=capture, restore=restore):
    """What is drawn inside leaves no trace."""
    captured = capture()
    try:
        yield
    finally:
        restore(captured)


def put_back_cpu():
    """As `put_back`, of the CPU's generators alone: cheap enough for every batch."""
    return put_back(capture_cpu, restore_cpu)
