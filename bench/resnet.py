"""The residual network of tests/reference on CIFAR-10's images, on the first GPU where there is one: what the bench `gpu` trains.

`resnet.py HOW DEPTH UPDATES STEPS` trains it in a loop with nothing around it, and prints the seconds of each step but the first. HOW: `deterministic` sets PyTorch up as
Espalier does, `default` leaves it as it comes, `fast` lets it try out algorithms and compute in TF32. The images lie in the folder that ESPALIER_TEST_DATA names."""

import gzip
import os
import pathlib
import sys
import time

import torch
from torch import nn

import espalier as es
from espalier import device

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "reference"))
from networks import ResNet  # noqa: E402

BATCH_SIZE = 128
WHERE = "cuda" if torch.cuda.is_available() else "cpu"


def images_and_labels():
    """All that is trained on, in the memory of the process, as float32 and int64."""
    files = sorted(pathlib.Path(os.environ["ESPALIER_TEST_DATA"], "cifar10-subset").glob("data_batch_*.bin.gz"))
    rows = torch.frombuffer(bytearray(b"".join(gzip.decompress(each.read_bytes()) for each in files)), dtype=torch.uint8).reshape(-1, 3073)
    images = rows[:, 1:].reshape(-1, 3, 32, 32).float()
    return (images - images.mean((0, 2, 3), keepdim=True)) / images.std((0, 2, 3), keepdim=True), rows[:, 0].long()


class Training:
    """A network, and updates of it: on samples that are drawn, copied to the GPU while it computes."""

    def __init__(self, depth):
        self.images, self.labels = images_and_labels()
        self.network = ResNet(depth, 3, 10).to(WHERE)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)

    def placed(self, batch):
        return batch.pin_memory().to(WHERE, non_blocking=True) if WHERE == "cuda" else batch

    def step(self, updates):
        """The mean loss."""
        total = 0
        for _ in range(updates):
            drawn = torch.randint(len(self.labels), (BATCH_SIZE,))
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.network(self.placed(self.images[drawn])), self.placed(self.labels[drawn]))
            loss.backward()
            self.optimizer.step()
            total += loss.detach()
        return (total / updates).item()


class OnGpu(es.Trainer):
    hyper_parameters = {"depth": es.initial(int, default=20)}
    metrics = ("loss",)
    data = "cifar10-subset"
    version = "1"
    reload = True

    def init(self, hp):
        self.training = Training(hp["depth"])
        self.track(network=self.training.network, optimizer=self.training.optimizer)

    def train(self):
        updates = self.step_meaning.updates
        return {"loss": self.training.step(updates), "samples": updates * BATCH_SIZE}

    def evaluate(self):
        return {"loss": 0.0}


def main(how, depth, updates, steps):
    if how == "deterministic":
        device.set_up()
    else:
        torch.set_num_threads(1)
    if how == "fast":
        torch.backends.cudnn.benchmark = True
        torch.set_float32_matmul_precision("high")
    training = Training(int(depth))
    training.step(int(updates))
    for _ in range(int(steps)):
        begin = time.monotonic()
        training.step(int(updates))
        print(f"{time.monotonic() - begin:.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
