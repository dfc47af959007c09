"""The installed distributions whose versions are part of what is trained: those that are imported when the trainer's file is, those that
its sources import anywhere, also in a function, and what these require. What is imported beyond that until a step was trained counts
for nothing, and is refused by name."""

import functools
import importlib.metadata
import platform
import re
import sys

from espalier.failure import TrainerError
from espalier.said import say_once


class Packages:
    """Of a trainer. `imported`: names of modules that its sources import; `own`: of those beside it, which may be called as somebody's
    distribution is. `ignored`: distributions whose versions do not count."""

    def __init__(self, imported, own, ignored):
        self._own = own
        self._ignored = {_plain(name) for name in ignored}
        self._counted = _with_required({*self._imported_now(), *_of_modules(imported - own)})
        self._seen = len(sys.modules)

    def versions(self):
        """name==version of Python and of each distribution, sorted."""
        counted = sorted(each for each in self._counted if _plain(each) not in self._ignored)
        return [f"python=={platform.python_version()}", *(f"{each}=={importlib.metadata.version(each)}" for each in counted)]

    def check(self):
        """Raises TrainerError if others have been imported by now. REQUIRES: a step was trained."""
        if beyond := self._beyond():
            raise TrainerError(f"until its first step was trained the trainer has imported {beyond}, which nothing at the top of its file imports: "
                               "its version would count for nothing, and another version would share what is trained. Import it at the top of "
                               "the file, or say that it changes nothing: ignore_packages=[...]")  # fmt: skip

    def warn(self, call):
        """Says so, once."""
        if beyond := self._beyond():
            say_once(f"{call} has imported {beyond}, whose version is no part of what is shared: import it at the top of the trainer's file, "
                     "or name it in ignore_packages")  # fmt: skip

    def _beyond(self):
        """Names, as a text; empty if there are none."""
        if len(sys.modules) == self._seen:
            return ""
        known = {_plain(each) for each in self._counted} | self._ignored
        return ", ".join(sorted(each for each in self._imported_now() if _plain(each) not in known))

    def _imported_now(self):
        return _of_modules({name.partition(".")[0] for name in list(sys.modules)} - self._own)


def _of_modules(modules):
    """The distributions that these modules are of."""
    return {each for module in modules for each in _distributions().get(module, ()) if each}  # what is half removed has no name


@functools.cache
def _distributions():
    """Module -> names of distributions. Cost: some tenths of a second, once a process."""
    return importlib.metadata.packages_distributions()


def _with_required(names):
    """And what they require, as far as it is there; of what only extras require, what PyTorch imports by itself, and late."""
    found, waiting = {}, list(names)
    while waiting:
        try:
            distribution = importlib.metadata.distribution(waiting.pop())
        except importlib.metadata.PackageNotFoundError:
            continue
        if _plain(distribution.name) in found:
            continue
        found[_plain(distribution.name)] = distribution.name
        required = [each.partition(";") for each in distribution.requires or ()]
        waiting += [re.match(r"[\w.-]+", requirement.strip()).group() for requirement, _, marker in required
                    if "extra" not in marker or distribution.name == "torch"]  # fmt: skip
    return set(found.values())


def _plain(name):
    """Equal for the ways in which a distribution's name is written."""
    return re.sub(r"[-_.]+", "-", name).lower()
