"""Trainers that hold memory as long as a step takes, for test_out_of_memory.py."""

import resource
import time

import espalier as es
import torch


class Hungry(es.Trainer):
    """Asks PyTorch for so much at once, and says how much it may have."""

    hyper_parameters = {"megabytes": es.initial(int, default=0), "lr": es.sequence(float, default=0.1)}
    metrics = ["score"]
    data = "none"

    def init(self, hp):
        self.megabytes = hp["megabytes"]
        self.sum = 0.0
        self.track_attributes("sum")

    def setup(self, changed):
        self.lr = changed.get("lr", getattr(self, "lr", None))

    def train(self):
        self.hold(self.megabytes << 20)
        self.sum += self.lr
        limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
        return {"loss": 0.0, "samples": 1, "limit_megabytes": limit >> 20}

    def hold(self, size):
        torch.empty(size, dtype=torch.uint8)

    def evaluate(self):
        return {"score": self.sum}


class HungryGpu(Hungry):
    """The same as a GPU says it."""

    def hold(self, size):
        limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
        if size > limit:
            raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {size} bytes")


class HoldingGpu(Hungry):
    """Has so much of the first GPU for as long as it computes with it."""

    def hold(self, size):
        held = torch.zeros(size, dtype=torch.uint8, device="cuda")
        begin = time.monotonic()
        while time.monotonic() - begin < 0.5:
            held[: 1 << 20] += 1
            torch.cuda.synchronize()
        del held
        torch.cuda.empty_cache()
