"""One client of many: `PYTHON one_of_many.py INDEX TRIALS FULL`. Submits so many trials of `synthetic`, whose steps take no time, in some batches, and
checks what each comes to against what its sequence says. Prints what it took, as JSON. FULL: what a step tends to whose limit is 1."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "client" / "python"))

import espalier as es  # noqa: E402

STEPS, PART, RATE = 4, 2, 0.5
BATCH = 50


def study(client, name):
    return client.study(name, trainer="synthetic", metric="test_acc", goal="max", steps=STEPS)


def limits(index, number):
    """Of a trial's first and last steps: other clients' trials begin alike, and none ends so."""
    return 0.1 + 0.05 * (number % 10), 0.5 + index / 100 + number / 1_000_000


def trial(index, number):
    first, last = limits(index, number)
    return {"curve_limit": es.Piecewise([first, last], [PART]), "curve_rate": RATE}


def expected(index, number, full):
    level = 0.0
    for limit in limits(index, number):
        for _ in range(PART):
            level += RATE * (limit * full - level)
    return level


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


def main(index, trials, full):
    with es.connect() as client:
        ours = study(client, f"client {index}")
        ours.create([trial(index, 0)])
        before = resident_bytes()
        futures = []
        for begin in range(0, trials, BATCH):
            futures += ours.submit([trial(index, number) for number in range(begin, min(begin + BATCH, trials))])
        ours.finish()
        evaluations = es.wait_all(futures)
        assert ours.wait()
        wrong = [(number, each.state, each.metrics) for number, each in enumerate(evaluations)
                 if each.state != "done" or each["test_acc"] != expected(index, number, full)]  # fmt: skip
        print(json.dumps({"trials": len(evaluations), "wrong": wrong[:3], "bytes_per_trial": (resident_bytes() - before) / trials}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
