"""ray_study.py tuned|default: all trials in Ray Tune, two at a time. Tuned: actors are used again, and nothing is logged. Prints the seconds
that Ray took to start, and the trials' accuracies."""

import json
import os
import sys
import tempfile
import time

TUNED = sys.argv[1] == "tuned"
if TUNED:
    os.environ["TUNE_DISABLE_AUTO_CALLBACK_LOGGERS"] = "1"

import digits  # noqa: E402
import ray  # noqa: E402
from ray import tune  # noqa: E402


def train(config):
    tune.report({"accuracy": digits.run_trial(digits.grid()[config["number"]])})


def main():
    begun = time.perf_counter()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    start_seconds = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as folder:
        tuner = tune.Tuner(
            tune.with_resources(train, {"cpu": 1}),
            param_space={"number": tune.grid_search(list(range(len(digits.grid()))))},
            tune_config=tune.TuneConfig(metric="accuracy", mode="max", max_concurrent_trials=2, reuse_actors=TUNED),
            run_config=tune.RunConfig(storage_path=folder, verbose=0),
        )
        results = tuner.fit()
    by_number = {result.config["number"]: result.metrics["accuracy"] for result in results}
    print(json.dumps({"start_seconds": start_seconds, "accuracies": [by_number[number] for number in sorted(by_number)]}))


main()
