"""measure.py ESPALIER DATABASE: the same trials in two bare processes, Optuna, Ray Tune as it comes and tuned, and Espalier, one system
after another, two trials at a time. Prints a line "NAME NUMBER" for each figure. ESPALIER is the command line's path, DATABASE an empty
PostgreSQL database's connection string. Runs with an interpreter that has PyTorch, Ray, Optuna and psycopg2. Fails if two systems find
different accuracies."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import digits

HERE = pathlib.Path(__file__).parent
os.environ["PYTHONPATH"] = str(HERE.parents[1] / "client" / "python")


def measured(run, folder):
    """(what `run` returns, seconds that it took, seconds of training in all, those by batch size)."""
    account = folder / "account"
    account.write_text("")
    os.environ["ESPALIER_BENCH_ACCOUNT"] = str(account)
    begun = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - begun
    by_size = collections.Counter()
    for line in account.read_text().splitlines():
        by_size.update({int(size): each for size, each in json.loads(line).items()})
    return result, seconds, sum(by_size.values()), by_size


def output_of(*command):
    return json.loads(subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def study_text(share):
    written = lambda name, schedule: schedule[0] if not schedule[1] else f'"{name}({schedule[0]}, {schedule[1]}, gamma={schedule[2]})"'
    listed = lambda schedules: ", ".join(str(written("MultiStep", each)) for each in schedules)
    return f"""
study: digits-{share}
trainer: Digits
step: epoch
hyper_parameters:
  momentum: {digits.MOMENTA}
  lr: [{listed(digits.LEARNING_RATES)}]
  bs: [{listed(digits.BATCH_SIZES)}]
metric: {{name: accuracy, goal: max}}
tuner: {{grid: {{steps: {digits.EPOCHS}}}}}
share: {share}
"""


class Service:
    """`espalier up` on two slots of Python workers."""

    def __init__(self, espalier, folder):
        self._espalier = espalier
        self._environment = dict(os.environ, ESPALIER_DATA=str(folder / "data"), ESPALIER_BENCH_ACCOUNT=str(folder / "account"))
        with open(folder / "up.log", "wb") as log:
            self._up = subprocess.Popen([espalier, "up", "--slots", "2", "--trainer", f"{HERE}/trainer.py:Digits", "--python", sys.executable],
                                        env=self._environment, stdout=log, stderr=log)  # fmt: skip
        while not any(server["connected"] for server in self.answer("server", "list") or []):
            if self._up.poll() is not None:
                sys.exit((folder / "up.log").read_text())
            time.sleep(0.1)

    def answer(self, *arguments):
        done = subprocess.run([self._espalier, *map(str, arguments), "--output", "json"], env=self._environment, capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def stop(self):
        self._up.terminate()
        self._up.wait()


def merge_rate_in_time(seconds_by_size):
    """What perfect sharing saves: all epochs of all trials over those that differ, an epoch weighed by what one of its batch size took."""
    histories = []
    for trial in digits.grid():
        values = [(digits.value(trial["lr"], epoch), round(digits.value(trial["bs"], epoch))) for epoch in range(digits.EPOCHS)]
        histories += [(trial["momentum"], *values[: epoch + 1]) for epoch in range(digits.EPOCHS)]
    count_by_size = collections.Counter(history[-1][1] for history in histories)
    weight = lambda history: seconds_by_size[history[-1][1]] / count_by_size[history[-1][1]]
    return sum(map(weight, histories)) / sum(map(weight, set(histories)))


def main():
    espalier, database = sys.argv[1:]
    accuracies = {}

    def tell(name, number):
        print(name, round(number, 4), flush=True)

    def measure(system, run):
        (accuracies[system], start_seconds), seconds, training_seconds, by_size = measured(run, folder)
        tell(f"{system}_seconds", seconds - start_seconds)
        tell(f"{system}_training_seconds", training_seconds)
        if start_seconds:
            tell(f"{system}_start_seconds", start_seconds)
        return seconds - start_seconds, by_size

    def in_ray(how):
        answer = output_of(sys.executable, HERE / "ray_study.py", how)
        return answer["accuracies"], answer["start_seconds"]

    def in_espalier(service, share):
        study = folder / f"{share}.yaml"
        study.write_text(study_text(share))
        subprocess.run([espalier, "study", "run", study, "--data", folder / "data", "--output", "json"], check=True, stdout=subprocess.DEVNULL)
        return [trial["metric"] for trial in service.answer("trial", "list", f"digits-{share}")], 0

    with tempfile.TemporaryDirectory(prefix="espalier bench ") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        bare, by_size = measure("bare", lambda: (output_of(sys.executable, HERE / "bare.py"), 0))
        measure("optuna", lambda: (output_of(sys.executable, HERE / "optuna_study.py", database), 0))
        ray, _ = measure("ray_tuned", lambda: in_ray("tuned"))
        measure("ray_default", lambda: in_ray("default"))
        service, seconds, *_ = measured(lambda: Service(espalier, folder), folder)
        tell("espalier_start_seconds", seconds)
        try:
            measure("espalier_alone", lambda: in_espalier(service, "nobody"))
            ours, _ = measure("espalier", lambda: in_espalier(service, "study"))
            _, check_seconds, *_ = measured(lambda: check(espalier), folder)
        finally:
            service.stop()
    if len({json.dumps(sorted(each)) for each in accuracies.values()}) != 1:
        sys.exit(f"the systems found different accuracies: {accuracies}")
    rate = merge_rate_in_time(by_size)
    tell("trainer_check_seconds", check_seconds)
    tell("merge_rate_in_time", rate)
    tell("espalier_against_bare", ours / bare)
    tell("ray_tuned_against_espalier", ray / ours)
    tell("ray_tuned_against_espalier_by_merge_rate", ray / ours / rate)


def check(espalier):
    subprocess.run([espalier, "trainer", "check", f"{HERE}/trainer.py:Digits", "--python", sys.executable], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
