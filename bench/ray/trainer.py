"""The same training as Espalier runs it."""

import digits

import espalier as es


class Digits(es.Trainer):
    hyper_parameters = {
        "momentum": es.initial(float, default=0.9),
        "lr": es.sequence(float, default=0.05),
        "bs": es.sequence(int, default=32),
    }
    metrics = ["accuracy"]
    data = es.files("../../examples/pytorch/digits.csv")

    def init(self, hp):
        self.training = digits.Training(hp["momentum"])
        self.track(model=self.training.model, optimizer=self.training.optimizer, generator=self.training.generator)

    def setup(self, changed):
        self.now = {**getattr(self, "now", {}), **changed}

    def train(self):
        return {"loss": self.training.epoch(self.now["lr"], self.now["bs"]), "samples": len(self.training.images)}

    def evaluate(self):
        return {"accuracy": self.training.accuracy()}
