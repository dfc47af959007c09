"""Trainers that end their trainings by themselves, after so many steps, for test_python_trainer.py."""

import torch

import espalier as es

HYPER_PARAMETERS = {"lr": es.sequence(float, default=0.1), "patience": es.initial(int, default=3)}


class Finishing(es.Trainer):
    """Each step adds a draw and `lr`."""

    hyper_parameters = HYPER_PARAMETERS
    metrics = ["sum", "count"]
    data = "none"

    def init(self, hp):
        self.patience, self.lr, self.count = hp["patience"], hp["lr"], 0
        self.sum = torch.zeros((), dtype=torch.float64)
        self.track(self.sum)
        self.track_attributes("count")

    def setup(self, changed):
        self.lr = changed["lr"]

    def train(self):
        if self.count == self.patience:
            raise es.Finished(f"{self.patience} steps are enough")
        self.count += 1
        self.sum += torch.rand(()).double() + self.lr
        return {"loss": 0.0, "samples": 1}

    def evaluate(self):
        return {"sum": self.sum, "count": self.count}


@es.loop(hyper_parameters=HYPER_PARAMETERS, metrics=["sum", "count"], data="none")
def main(hp):
    drawn, rate, count = torch.zeros((), dtype=torch.float64), torch.tensor(hp["lr"]), torch.zeros((), dtype=torch.int64)
    es.track(drawn, count)
    es.setup(lambda changed: rate.fill_(changed["lr"]))
    es.evaluate(lambda: {"sum": drawn, "count": count})
    for _ in es.steps():
        if count == hp["patience"]:
            raise es.Finished("enough")
        count += 1
        drawn += torch.rand(()).double() + rate
        es.report(loss=0.0, samples=1)
