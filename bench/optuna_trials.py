"""optuna_trials.py DATABASE STORED TRIALS: trials one by one in Optuna on PostgreSQL; prints the median of milliseconds a
trial. DATABASE is a libpq connection string. An empty one is given STORED trials first, written as Optuna writes them."""

import statistics
import sys
import time
import urllib.parse

import optuna
from sqlalchemy import create_engine, text

STEPS = [20, 40, 60, 80]


def url_of(connection_string):
    parts = dict(part.split("=", 1) for part in connection_string.split())
    host = urllib.parse.quote(parts["host"], safe="")
    return f"postgresql+psycopg2://{parts['user']}@/{parts['dbname']}?host={host}&port={parts['port']}"


def run_trial(study):
    trial = study.ask()
    trial.suggest_float("lr", 0.001, 0.1)
    trial.suggest_float("momentum", 0.5, 0.99)
    for step in STEPS:
        trial.report(0.5, step)
    study.tell(trial, 0.5)


def fill(url, study, count):
    """Copies of the study's one trial, by SQL: Optuna itself would take minutes."""
    tables = {
        "trials": ("number, study_id, state, datetime_start, datetime_complete",
                   "n, study_id, state, datetime_start, datetime_complete"),
        "trial_params": ("trial_id, param_name, param_value, distribution_json",
                         "trial_id + n, param_name, param_value, distribution_json"),
        "trial_values": ("trial_id, objective, value, value_type", "trial_id + n, objective, value, value_type"),
        "trial_intermediate_values": ("trial_id, step, intermediate_value, intermediate_value_type",
                                      "trial_id + n, step, intermediate_value, intermediate_value_type"),
    }
    with create_engine(url).begin() as connection:
        for table, (columns, values) in tables.items():
            connection.execute(text(f"INSERT INTO {table} ({columns}) SELECT {values} FROM {table}, "
                                    f"generate_series(1, {count - 1}) AS n ORDER BY n"))


def main():
    url, stored, count = url_of(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    new_study = lambda: optuna.create_study(storage=optuna.storages.RDBStorage(url), study_name="rivals",
                                            sampler=optuna.samplers.RandomSampler(), direction="maximize",
                                            load_if_exists=True)
    study = new_study()
    if stored > 0 and not study.trials:
        run_trial(study)
        fill(url, study, stored)
        study = new_study()
    run_trial(study)  # a client's first trial reads what is stored: 3 s at 10,000; not counted
    before = len(study.trials)
    milliseconds = []
    for _ in range(count):
        begun = time.perf_counter()
        run_trial(study)
        milliseconds.append((time.perf_counter() - begun) * 1000)
    assert len(study.trials) == before + count
    print(statistics.median(milliseconds))


if __name__ == "__main__":
    main()
