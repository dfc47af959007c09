"""What decides bits besides code, data and values: processor, libraries, threads; and the settings that make PyTorch repeat them."""

import os
import pathlib
import platform
import re

import torch


def set_up():
    """As many threads as ESPALIER_THREADS says, else one; algorithms that give the same bits each time, and no reduced precision behind the trainer's back. An operation
    that has no such algorithm fails, and PyTorch's message names it. REQUIRES: nothing was computed yet."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS repeats its bits with this alone
    threads = max(1, int(os.environ.get("ESPALIER_THREADS") or 1))
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(threads)
    torch.use_deterministic_algorithms(True)
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.allow_tf32 = False
    if torch.cuda.is_available():
        torch.cuda.init()  # so that its generators are there to be saved from the beginning


def import_all():
    """What `set_up` imports, and nothing else that a process could not do again."""
    torch.use_deterministic_algorithms(True)


def processor():
    """What libraries of mathematics choose their ways by: maker, family and model in one word, "genuineintel-6-143". The variable ESPALIER_PROCESSOR says another, where an
    administrator knows that several compute alike. Empty: not known."""
    said = os.environ.get("ESPALIER_PROCESSOR")
    if said is None:
        try:
            first = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0]
        except OSError:
            return ""
        said = "-".join(re.findall(r"^(?:vendor_id|cpu family|model|CPU implementer|CPU part)\s*: (.+)$", first, re.MULTILINE))
    return re.sub(r"\s", "-", said.strip().lower())


def kind():
    """A text that is equal on devices that give the same bits: "cpu x86_64 genuineintel-6-143 avx512 torch-2.13.0+cpu threads-1"."""
    words = ["cpu", platform.machine(), torch.backends.cpu.get_cpu_capability().lower(), f"torch-{torch.__version__}",
             f"threads-{torch.get_num_threads()}"]  # fmt: skip
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(index).replace(" ", "-") for index in range(torch.cuda.device_count())]
        words = ["cuda", *names, f"cuda-{torch.version.cuda}", f"cudnn-{torch.backends.cudnn.version()}", *words]
    elif model := processor():
        words.insert(2, model)
    return " ".join(words)
