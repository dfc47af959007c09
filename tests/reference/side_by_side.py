"""Trains with a built-in trainer and, from the same weights, on the same samples in the same order, in plain PyTorch."""

import os
import pathlib
import tempfile

import torch
from data_sets import SEED
from fake_node_manager import Worker

from espalier import safetensors_file

WORKER = pathlib.Path(os.environ["ESPALIER_BIN"]).resolve() / "espalier-worker"
OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "rmsprop": torch.optim.RMSprop}


def settings(optimizer, values):
    """Of a parameter group, from hyper-parameters' values. What a study leaves out is at the default, which is PyTorch's."""
    names = {"sgd": ("lr", "momentum", "nesterov", "weight_decay"), "rmsprop": ("lr", "alpha", "eps", "momentum", "weight_decay")}
    chosen = {name: values[name] for name in names.get(optimizer, ("lr", "eps", "weight_decay")) if name in values}
    if optimizer in ("adam", "adamw"):
        chosen["betas"] = (values.get("beta1", 0.9), values.get("beta2", 0.999))
    return chosen


def losses(trainer, data, network, samples, schedule, updates, initial=None):
    """The losses of the first updates: (here, in plain PyTorch).
    `network`: in plain PyTorch, of any weights. `samples`: the values of all updates -> inputs and labels of each.
    `schedule`: update -> values, bs among them. `initial`: values at step 0; with the precision "float64" both compute in that."""
    initial = {"seed": SEED, **(initial or {})}
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        with Worker(None, log, command=[str(WORKER), "--trainer", str(trainer), "--data", str(data)]) as worker:
            worker.init({**initial, **schedule(0)}, updates=1)
            worker.setup_all(schedule(0))
            worker.save(f"{folder}/state")
            here = []
            for update in range(updates):
                worker.setup(schedule(update))
                here.append(worker.train()["loss"])
        state = safetensors_file.read(f"{folder}/state")
    if initial.get("precision") == "float64":
        network.double()
    network.load_state_dict({name.removeprefix("model."): value for name, value in state.items() if name.startswith("model.")})
    return here, plain_losses(network, samples, [schedule(update) for update in range(updates)])


def plain_losses(network, samples, values_of_updates):
    kind = values_of_updates[0].get("optimizer", "sgd")
    optimizer = OPTIMIZERS[kind](network.parameters(), **settings(kind, values_of_updates[0]))
    found = []
    for values, (inputs, labels) in zip(values_of_updates, samples(values_of_updates), strict=True):
        optimizer.param_groups[0].update(settings(kind, values))
        optimizer.zero_grad()
        if inputs.is_floating_point():
            inputs = inputs.to(next(network.parameters()).dtype)
        logits = network(inputs)
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found
