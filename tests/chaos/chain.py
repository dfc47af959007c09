"""What the light servers of a chaos run train: a chain of digests, one link a step, over all values that hold at the step. Whoever knows
a trial's sequences can tell each metric and each state without training it, and no fault goes unseen: one value, one step or one bit
that is wrong changes all that comes after."""

import hashlib
import json

BALLAST_BYTES = 16 << 10  # of each state, so that a disk can be full of them
NAME = "chain"
METRIC = "score"


def begin(values):
    """The state at step 0. `values`: those of all hyper-parameters at step 0, by name, floats and texts."""
    return _digest("begin", values)


def link(state, step, values):
    """The state at `step`, which those values lead to from the state before it."""
    return _digest("step", {"before": state.hex(), "step": step, "values": values})


def score(state):
    """What an evaluation gives, from 0 to 1."""
    return int.from_bytes(state[:6], "big") / 2**48


def arrays(state, step):
    """The state as a checkpoint has it: name -> (type, shape, bytes), by name."""
    return {"ballast": ("U8", [BALLAST_BYTES], (state * (BALLAST_BYTES // len(state)))), "state": ("U8", [len(state)], state),
            "step": ("I64", [], step.to_bytes(8, "little"))}  # fmt: skip


def state_sha256(named):
    """The digest by which docs/trainer_protocol.md names a state."""
    digest = hashlib.sha256()
    for name, (dtype, shape, data) in sorted(named.items()):
        digest.update(f"{name}\0{dtype}\0{','.join(map(str, shape))}\0".encode() + data)
    return digest.hexdigest()


def train_alone(values_at, steps):
    """(metric, digest of the state) at `steps`. `values_at`: step -> values, which hold from there to the next step."""
    state = begin(values_at(0))
    for step in range(steps):
        state = link(state, step + 1, values_at(step))
    return score(state), state_sha256(arrays(state, steps))


def _digest(kind, what):
    return hashlib.sha256(json.dumps([kind, what], sort_keys=True).encode()).digest()
