"""One trunk and ten decays: what teams that train language models do by hand, asked of the service in a few lines.

A small language model (the built-in `transformer`: of a text, each next byte) is trained with a learning rate that warms up and holds. That trunk
is trained once. Ten decays of a tenth leave it, in five shapes to two ends, all of one budget; one more branch changes batch size, sequence
length, the mix of texts and the learning rate at one step. Then each is trained alone, too, and both are compared: steps, device time, and the
bits of the final states. README.md beside this file says how to start the service.

    python examples/trunk/trunk.py
    python examples/trunk/trunk.py --budgets 60,100 --decays 0.1,0.2 --shapes sqrt --ends 0      # another mixture, with its own bound
"""

import argparse
import json
import sys

import comparison
from comparison import Branches

import espalier as es

STEP = "10 updates"
MODEL = {"layers": 1, "width": 32, "heads": 2, "length": 64, "bs": 8, "seed": 1}
PEAK, WARMUP_STEPS = 0.01, 10
OTHERWISE = {"bs": 16, "length": 128, "mix": 0.5, "lr": 0.002}  # what one more branch changes, all at one step
PATIENCE_SECONDS = 3600


def main(arguments):
    options = parsed(arguments)
    ways = sorted({(budget - round(budget * share), share) for budget in options.budgets for share in options.decays})
    with es.connect() as client:
        study = study_of(client, "trunk", options.data, share="study")  # with nobody before it: what it costs is measured
        try:
            trunk = train_trunk(study, [start for start, _ in ways])
            decays, otherwise = Branches("decays"), Branches("otherwise")
            for start, share in ways:
                for end in options.ends:
                    name = f"decay {share:g} to {end:g} from step {start}"
                    decays.add(start, trunk.branch(at=start, decay=share, shapes=options.shapes, end=end, name=name))
            otherwise.add(trunk.steps, trunk.branch(at=trunk.steps, change=OTHERWISE, steps=max(options.budgets), name="otherwise"))
            es.wait_all(decays.futures + otherwise.futures, PATIENCE_SECONDS)
        finally:
            study.finish()
        study.wait(PATIENCE_SECONDS)  # a result is there at once; the study is over when the last state is stored, too
        for branches in (decays, otherwise):
            branches.alone = train_alone(client, options.data, branches)
        found = comparison.of(study, trunk, decays, otherwise)
    print(json.dumps(found, indent=2) if options.output == "json" else comparison.as_text(found))
    return 0 if all(each["same_state"] for each in found["branches"]) else 1


def train_trunk(study, stops):
    """A learning rate that warms up and holds, trained to the last of `stops`, which are in order. The state is stored at each, since the trial
    is asked for there. Returns the trial."""
    future = study.submit({**MODEL, "lr": es.Warmup(0, WARMUP_STEPS, PEAK)}, steps=stops[0], horizon=stops[-1])
    for stop in stops:
        if stop > future.step:
            future.result(PATIENCE_SECONDS)
            future = future.trial.extend(stop)
    future.result(PATIENCE_SECONDS)
    return future.trial.refresh()


def train_alone(client, data, branches):
    """The same trainings once more, each from its beginning, and sharing nothing. Returns their futures."""
    study = study_of(client, f"{branches.name} alone", data, share="nobody")
    futures = [study.submit(trial.hyper_parameters, steps=trial.steps) for trial in branches.trials]
    study.finish()
    study.wait(PATIENCE_SECONDS)
    return futures


def study_of(client, name, data, share):
    return client.study(name, trainer="transformer", data=data, step=STEP, metric="test_loss", goal="min", share=share)


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="/tmp/licences", help="the folder of texts")
    parser.add_argument("--budgets", type=listed(int), default=[100], help="whole lengths, in steps")
    parser.add_argument("--decays", type=listed(float), default=[0.1], help="the share of its budget that each decay takes")
    parser.add_argument("--shapes", type=listed(str), default=["linear", "cosine", "sqrt", "square", "mirror_cosine"])
    parser.add_argument("--ends", type=listed(float), default=[0.0, 0.001], help="learning rates to fall to")
    parser.add_argument("--output", choices=["text", "json"], default="text")
    return parser.parse_args(arguments)


def listed(kind):
    return lambda text: [kind(each) for each in text.split(",")]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
