"""The most memory that a training has held: of the process, and of the GPUs that it uses."""

import pathlib

import torch


def forget():
    """The peak is counted from here. Where the system does not let it, peaks of earlier trainings count, too."""
    if torch.cuda.is_initialized():
        for index in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(index)
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def of_process():
    """In bytes; 0 where the system does not tell."""
    try:
        status = pathlib.Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def of_device():
    """Of all GPUs that PyTorch uses here, in bytes; 0: it uses none."""
    if not torch.cuda.is_initialized():
        return 0
    return sum(torch.cuda.max_memory_reserved(index) for index in range(torch.cuda.device_count()))
