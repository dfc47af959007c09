"""A trainer that fails at its second step, for test_python_trainer.py."""

import espalier as es


class Failing(es.Trainer):
    hyper_parameters = {"lr": es.sequence(float, default=0.1)}
    metrics = ["score"]
    data = "none"

    def init(self, hp):
        self.count = 0
        self.track_attributes("count")

    def setup(self, changed):
        pass

    def train(self):
        self.count += 1
        if self.count == 2:
            raise RuntimeError("the second step fails as told")
        return {"loss": 0.0, "samples": 1}

    def evaluate(self):
        return {"score": 0.0}
