#!/usr/bin/env python3
"""A training in plain Python that can only be started, as a trainer for Espalier (docs/script_trainers.md): a line through 500 points, by
stochastic gradient descent with momentum. Its state is a file of JSON."""

import argparse
import json
import os
import random

DECLARATION = {
    "hyper_parameters": {"lr": 0.01, "momentum": 0.9, "bs": 16, "seed": {"default": 0, "initial": True}},
    "metrics": ["mse"],
}
UPDATES_IN_EPOCH = 20
SAVES_EVERY = 5  # steps


def points(seed, count):
    draw = random.Random(seed)
    xs = [draw.uniform(-1, 1) for _ in range(count)]
    return [(x, 3 * x + 2 + draw.gauss(0, 0.1)) for x in xs]


TRAINING, VALIDATION = points("training", 500), points("validation", 100)


def begin(seed):
    draw = random.Random(seed)
    return {"weights": [draw.gauss(0, 1), draw.gauss(0, 1)], "velocity": [0.0, 0.0], "draw": draw.getstate()}


def load(path):
    with open(path) as file:
        state = json.load(file)
    version, internal, gauss = state["draw"]
    state["draw"] = version, tuple(internal), gauss
    return state


def save(state, path):
    """Whole or not there, whatever happens."""
    with open(path + ".new", "w") as file:
        json.dump(state, file)
    os.rename(path + ".new", path)


def train_step(state, lr, momentum, bs, updates):
    draw = random.Random()
    draw.setstate(state["draw"])
    loss = 0.0
    for _ in range(updates):
        gradient = [0.0, 0.0]
        for x, y in draw.sample(TRAINING, bs):
            error = state["weights"][0] * x + state["weights"][1] - y
            gradient = [gradient[0] + 2 * error * x / bs, gradient[1] + 2 * error / bs]
            loss += error * error
        state["velocity"] = [momentum * v + g for v, g in zip(state["velocity"], gradient)]
        state["weights"] = [w - lr * v for w, v in zip(state["weights"], state["velocity"])]
    state["draw"] = draw.getstate()
    return {"loss": loss / (updates * bs), "samples": updates * bs}


def evaluate(state):
    slope, shift = state["weights"]
    return {"mse": sum((slope * x + shift - y) ** 2 for x, y in VALIDATION) / len(VALIDATION)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--from", dest="begin", type=int)
    parser.add_argument("--to", dest="end", type=int)
    parser.add_argument("--values")
    parser.add_argument("--load")
    parser.add_argument("--save")
    arguments = parser.parse_args()
    if arguments.describe:
        print(json.dumps(DECLARATION))
        return
    with open(arguments.values) as file:
        given = json.load(file)
    state = load(arguments.load) if arguments.load else begin(given["initial"]["seed"])
    for step in range(arguments.begin, arguments.end):
        values = {name: given["values"][name][step - arguments.begin] for name in ("lr", "momentum", "bs")}
        said = train_step(state, **values, updates=given["updates"] or UPDATES_IN_EPOCH)
        is_on_its_way = (step + 1) % SAVES_EVERY == 0 and step + 1 < arguments.end
        if is_on_its_way:
            save(state, f"{arguments.save}.{step + 1}")
        print(json.dumps({"step": step + 1, **said, "saved": is_on_its_way}), flush=True)
    if arguments.save:
        save(state, arguments.save)
    else:
        print(json.dumps({"step": arguments.end, "evaluate": evaluate(state)}))


if __name__ == "__main__":
    main()
