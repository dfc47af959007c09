"""optuna_bridge.py ADDRESS TRIALS: trials one by one with Optuna's RandomSampler, whose study is in memory: alone, where a trial takes no
time, and on Espalier, where its steps take none. Prints the milliseconds from ask to tell: medians and 95th percentiles, alone and bridged."""

import statistics
import sys

import espalier as es
import optuna

STEPS = 8


def space(trial):
    return {"lr": trial.suggest_float("lr", 1e-3, 1, log=True), "momentum": trial.suggest_float("momentum", 0.5, 0.99)}


def new_study(seed):
    return optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed), direction="minimize")


def alone(seed, count):
    study = new_study(seed)
    for _ in range(count):
        trial = study.ask()
        space(trial)
        trial.report(0.5, STEPS)
        study.tell(trial, 0.5)
    return study


def bridged(client, seed, count):
    study = client.study(f"bridge-{seed}", trainer="synthetic", metric="test_loss", goal="min", steps=STEPS)
    return es.optuna.run(study, space, trials=count, at_once=1, optuna_study=new_study(seed))


def milliseconds(study, warm):
    """Without the first trials: what is loaded once is loaded then."""
    return [trial.duration.total_seconds() * 1000 for trial in study.trials[warm:]]


def main():
    address, count = sys.argv[1], int(sys.argv[2])
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warm = count // 10
    with es.connect(address) as client:
        taken = [milliseconds(study, warm) for study in (alone(1, count), bridged(client, 1, count))]
    for each in taken:
        print(statistics.median(each), statistics.quantiles(each, n=20)[-1])


if __name__ == "__main__":
    main()
