"""optuna_study.py DATABASE: all trials in Optuna on PostgreSQL, in two processes. DATABASE is a libpq connection string. Prints their accuracies."""

import json
import multiprocessing
import pathlib
import sys

import digits
import optuna

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from optuna_trials import url_of  # noqa: E402


def work(url, count):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    trials = digits.grid()
    study = optuna.load_study(study_name="digits", storage=url)
    study.optimize(lambda trial: digits.run_trial(trials[trial.suggest_int("number", 0, len(trials) - 1)]), n_trials=count)


if __name__ == "__main__":
    url, count = url_of(sys.argv[1]), len(digits.grid())
    study = optuna.create_study(study_name="digits", storage=url, direction="maximize")
    for number in range(count):
        study.enqueue_trial({"number": number})
    processes = [multiprocessing.get_context("spawn").Process(target=work, args=(url, count // 2)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print(json.dumps([trial.value for trial in sorted(study.trials, key=lambda trial: trial.params["number"])]))
