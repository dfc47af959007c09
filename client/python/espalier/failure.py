"""What can go wrong, by the kinds of proto/espalier/v1/trainer.proto: the kind decides whether it is tried again."""

import traceback

import torch

MESSAGE_CHARACTERS_MAX = 64 * 1024  # the end of a traceback says the most
OUT_OF_MEMORY_WORDS = ("out of memory", "can't allocate memory", "cannot allocate memory", "not enough memory")


class RequestError(Exception):
    """The request itself is wrong: an unknown name, a value of another type, out of order."""


class CheckpointError(Exception):
    """A checkpoint file is missing, damaged, of another training, or cannot be written."""


class TrainerError(Exception):
    """The trainer's code breaks a rule of this package; the message names the thing and what to do, and needs no traceback."""


class Finished(Exception):
    """Raised by `train` instead of training a step: the training is over. Whoever asks for more steps is answered with the last metrics.
    Raise it before anything is drawn or changed: the state is saved as it stands then."""


def reply_of(error, *, state_intact):
    """The `failure` of a TrainerReply, for an exception that a request ended in."""
    lost = gpu_is_lost(error)
    return {"kind": kind_of(error), "message": message_of(error)[-MESSAGE_CHARACTERS_MAX:], "stateIntact": state_intact and not lost,
            "workerUnusable": lost}  # fmt: skip


def kind_of(error):
    if isinstance(error, RequestError):
        return "FAILURE_KIND_REQUEST"
    if isinstance(error, CheckpointError):
        return "FAILURE_KIND_CHECKPOINT"
    if is_out_of_memory(error):
        return "FAILURE_KIND_OUT_OF_MEMORY"
    return "FAILURE_KIND_TRAINER"


def is_out_of_memory(error):
    """PyTorch has an exception of its own for CUDA; for the CPU it says so in words alone."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in OUT_OF_MEMORY_WORDS)


def gpu_is_lost(error):
    """Whether a GPU has an error that stays: all that this process asks of it later fails, too, as it does after an illegal access or a
    failed assertion. Waits for the GPUs to find out; without one nobody can be asked, and the words have to do."""
    if not torch.cuda.is_initialized():
        return isinstance(error, RuntimeError) and "CUDA error" in str(error)
    try:
        for index in range(torch.cuda.device_count()):
            torch.cuda.synchronize(index)
    except RuntimeError:
        return True
    return False


def message_of(error):
    if isinstance(error, (RequestError, CheckpointError, TrainerError)):
        return str(error)
    return "".join(traceback.format_exception(error))
