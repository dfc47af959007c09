"""How much memory a process has resident, in bytes, as the system counts it."""

import pathlib
import re


def resident(pid):
    return _of(pid, "VmRSS")


def peak(pid):
    """The most since it was forgotten."""
    return _of(pid, "VmHWM")


def forget_peak(pid):
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")


def _of(pid, name):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{name}:\s*(\d+) kB$", status, re.MULTILINE).group(1)) << 10
