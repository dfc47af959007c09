"""What training and evaluating change although it is no part of the state. `espalier trainer check` asks for it (--watch), to say
what was forgotten; too slow for training in earnest."""

import contextlib
import hashlib
import sys
import types

import torch
from torch import nn

from espalier import generators
from espalier.safetensors_file import bytes_of
from espalier.tracking import PLAIN_TYPES

DEPTH_MAX = 6
VISITS_MAX = 20_000
SAMPLE_MAX = 1 << 20  # elements of a large array that are looked at
PACKAGE_ATTRIBUTES = ("step_meaning", "on_setup", "on_evaluate", "reported")  # the package's own, in a trainer
WITHOUT_STATE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)


class Changes:
    """`trainer`: after Init. Says what it sees on standard error, each thing once."""

    def __init__(self, trainer):
        self._trainer = trainer
        self._said = set()

    @contextlib.contextmanager
    def said(self, call):
        """Around a call of the trainer's, which `call` names."""
        before = self._look()
        yield
        after = self._look()
        for name in sorted(name for name in before.keys() & after.keys() if before[name] != after[name]):
            line = f"{call} changes {name}, which is not tracked"
            if line not in self._said:
                self._said.add(line)
                print(f"espalier: {line}", file=sys.stderr, flush=True)

    def _look(self):
        """Name and type -> digest, of the trainer's attributes or the script's variables, and of its file's globals."""
        tracked = self._trainer._tracked
        look = _Look(tracked)
        module = sys.modules.get(type(self._trainer).__module__)
        roots = {name: each for name, each in vars(module).items() if not name.startswith("__")} if module else {}
        own = {name: each for name, each in self._trainer._visible().items() if not name.startswith("_")}
        roots |= {name: each for name, each in own.items() if name not in PACKAGE_ATTRIBUTES and name not in tracked.names()}
        return {f"{name} ({type(each).__qualname__})": look.digest(each) for name, each in roots.items()}


class _Look:
    """What is tracked, and what was looked at before, is left out."""

    def __init__(self, tracked):
        self._seen = {id(each) for _, each in tracked.objects()}
        for module in tracked.of_type(nn.Module):
            self._seen.update(map(id, [*module.modules(), *module.parameters(), *module.buffers()]))
        self._left = VISITS_MAX

    def digest(self, each):
        digest = hashlib.blake2b()
        self._add(digest, each, 0)
        return digest.digest()

    def _add(self, digest, each, depth):
        if isinstance(each, PLAIN_TYPES):
            digest.update(repr(each).encode())
            return
        if id(each) in self._seen or depth > DEPTH_MAX or self._left == 0 or isinstance(each, WITHOUT_STATE):
            return
        self._seen.add(id(each))
        self._left -= 1
        if isinstance(each, torch.Tensor):
            flat = each.detach().flatten() if each.layout is torch.strided else torch.empty(0)
            digest.update(bytes_of(flat[:: max(1, len(flat) // SAMPLE_MAX)].cpu().contiguous()))
        elif hasattr(each, "tobytes") and hasattr(each, "flat"):  # NumPy's
            digest.update(each.flat[:: max(1, each.size // SAMPLE_MAX)].tobytes())
        elif generators.is_one(each):
            self._add(digest, generators.capture_one(each), depth + 1)
        else:
            for name, part in _parts(each):
                digest.update(f"{name}\0".encode())
                self._add(digest, part, depth + 1)


def _parts(each):
    """(name, part) of what may have parts."""
    if isinstance(each, dict):
        return [(name if isinstance(name, (str, int)) else index, part) for index, (name, part) in enumerate(each.items())]
    if isinstance(each, (list, tuple)):
        return list(enumerate(each))
    if isinstance(each, (set, frozenset)):
        return [(text, None) for text in sorted(map(repr, each))]
    if isinstance(each, types.GeneratorType):
        return sorted(each.gi_frame.f_locals.items()) if each.gi_frame else []
    return sorted(getattr(each, "__dict__", {}).items())
