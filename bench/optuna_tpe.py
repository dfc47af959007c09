"""optuna_tpe.py PROBLEM TRIALS SEEDS: Optuna's TPE, as it comes, on one of the functions of bench/tpe.cc; prints the median over the seeds
of how far the best of so many trials is from the function's least value."""

import math
import statistics
import sys

import optuna


def branin(trial):
    x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
    bent = y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6
    return bent**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def hartmann6(trial):
    heights = [1, 1.2, 3, 3.2]
    widths = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
    places = [[0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886], [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
              [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650], [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381]]
    point = [trial.suggest_float(f"x{i}", 0, 1) for i in range(6)]
    return -sum(height * math.exp(-sum(w * (x - p) ** 2 for w, x, p in zip(width, point, place)))
                for height, width, place in zip(heights, widths, places))


def mixed(trial):
    rate = math.log10(trial.suggest_float("lr", 1e-5, 1, log=True))
    depth = (trial.suggest_int("depth", 1, 30) - 12) / 10
    share = trial.suggest_float("share", 0, 1) - 0.3
    optimizer = trial.suggest_categorical("optimizer", ["sgd", "adam", "rmsprop", "adagrad"])
    rate -= -1 if optimizer == "sgd" else -3
    return rate**2 / 2 + depth**2 + 2 * share**2 + {"sgd": 0.1, "adam": 0}.get(optimizer, 0.4)


PROBLEMS = {"branin": (branin, 0.397887), "hartmann6": (hartmann6, -3.32237), "mixed": (mixed, 0)}


def regret(name, trials, seed):
    objective, least = PROBLEMS[name]
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=trials)
    return study.best_value - least


def main(name, trials, seeds):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    print(statistics.median(regret(name, trials, seed) for seed in range(seeds)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
