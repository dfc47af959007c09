"""A trainer that says what it does, for test_trial_logs.py: `flood` lines at each step besides, and an error at step `fail_at`."""

import sys

import espalier as es


class Talking(es.Trainer):
    hyper_parameters = {"lr": es.sequence(float, default=0.1), "flood": es.initial(int, default=0),
                        "fail_at": es.initial(int, default=0)}  # fmt: skip
    metrics = ["score"]
    data = "none"

    def init(self, hp):
        print("hello from init")
        self.flood, self.fail_at, self.lr = hp["flood"], hp["fail_at"], hp["lr"]
        self.count = 0
        self.track_attributes("count")

    def setup(self, changed):
        self.lr = changed.get("lr", self.lr)

    def train(self):
        self.count += 1
        for number in range(self.flood):
            print(f"flood {self.count} {number} " + 80 * "x")
        print(f"step {self.count} lr {self.lr}")
        print(f"warning {self.count}", file=sys.stderr)
        if self.count == self.fail_at:
            raise RuntimeError("this step fails as told")
        return {"loss": 0.0, "samples": 1}

    def evaluate(self):
        print(f"evaluated at {self.count}")
        return {"score": self.lr}
