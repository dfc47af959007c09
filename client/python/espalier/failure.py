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


def reply_of(error, *, state_intact):
    """The `failure` of a TrainerReply, for an exception that a request ended in."""
    return {"kind": kind_of(error), "message": message_of(error)[-MESSAGE_CHARACTERS_MAX:], "stateIntact": state_intact}


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


def message_of(error):
    if isinstance(error, (RequestError, CheckpointError, TrainerError)):
        return str(error)
    return "".join(traceback.format_exception(error))
