"""Scripts in the shape of accelerate's examples: nothing but the import of Accelerator, and es.*, is Espalier's."""

import importlib

import accelerate
import forgetting
import torch
from mistaken_data import LOADERS
from small import SAMPLES, Points, Tied, drawn
from torch import nn
from torch.utils.data import DataLoader

import espalier as es
from espalier.accelerate import Accelerator

INITIAL = {"accumulate": es.initial(int, default=1), "workers": es.initial(int, default=0), "forget": es.initial(str, default=""),
           "mistake": es.initial(str, default="")}  # fmt: skip
AT_THE_TOP = torch.Generator().manual_seed(1)


@es.loop(hyper_parameters={**INITIAL, "lr": es.sequence(float, default=0.05), "bs": es.sequence(int, default=8)}, metrics=["loss"])
def main(hp):
    forgetting.forget(hp["forget"])
    accelerator = Accelerator(gradient_accumulation_steps=hp["accumulate"], cpu=not torch.cuda.is_available(), **MISTAKES.get(hp["mistake"], {}))
    model = Tied()
    optimizer = torch.optim.Adam(model.parameters(), lr=hp["lr"])
    data = Points()
    loader = DataLoader(data, batch_size=hp["bs"], shuffle=True, num_workers=hp["workers"])
    if hp["mistake"] == "rebuilt loader":
        loader = es.DataLoader(data, batch_size=hp["bs"], shuffle=True)
    if hp["mistake"] in LOADERS:
        loader = LOADERS[hp["mistake"]](hp["workers"])
    scheduler = None
    if hp["mistake"] == "scheduler":
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    counts = {"seen": 0}
    es.track(model, loader, counts)
    if hp["mistake"] != "untracked optimizer":
        es.track(optimizer)
    if scheduler:
        es.track(scheduler)
    if hp["mistake"] == "rebuilt loader":

        @es.setup
        def set_up(changed):
            nonlocal loader
            if "lr" in changed:
                optimizer.param_groups[0]["lr"] = changed["lr"]
            if "bs" in changed:
                loader = accelerator.prepare(DataLoader(data, batch_size=changed["bs"], shuffle=True))

        go(hp, accelerator, model, optimizer, lambda: loader, scheduler, counts)
    go(hp, accelerator, model, optimizer, loader, scheduler, counts)


@es.loop(hyper_parameters={**INITIAL, "bs": es.sequence(int, default=8)}, metrics=["loss"])
def scheduled(hp):
    accelerator = Accelerator(gradient_accumulation_steps=hp["accumulate"], cpu=not torch.cuda.is_available())
    model = Tied()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loader = DataLoader(Points(), batch_size=hp["bs"], shuffle=True, num_workers=hp["workers"])
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, total_steps=40)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    counts = {"seen": 0}
    accelerator.register_for_checkpointing(scheduler)
    es.track(model, loader, counts)
    if hp["mistake"] != "untracked optimizer":
        es.track(optimizer)
    go(hp, accelerator, model, optimizer, loader, scheduler, counts)


def go(hp, accelerator, model, optimizer, loader, scheduler, counts):
    seen = 0
    es.evaluate(lambda: test(model, accelerator.device))
    if hp["mistake"] == "load_state":
        accelerator.load_state("folder")
    for _ in es.steps():
        losses = []
        for points, labels in es.batches(loader() if callable(loader) else loader):
            points = points + 0.1 * drawn()
            if hp["mistake"] == "late import":
                importlib.import_module("lazy_hidden")
            if hp["mistake"] == "global generator":
                points = points + torch.rand((), generator=AT_THE_TOP)
            if hp["mistake"] == "data changed by training":
                loader.dataset.points.mul_(0.99)
            losses.append(update(accelerator, model, optimizer, scheduler, points, labels))
            counts["seen"] += len(labels)
            seen += len(labels)
        accelerator.save_state("folder")
        es.report(loss=sum(losses) / len(losses), samples=len(losses), seen=counts["seen"], lr=optimizer.param_groups[0]["lr"])


def update(accelerator, model, optimizer, scheduler, points, labels):
    with accelerator.accumulate(model):
        loss = nn.functional.cross_entropy(model(points), labels)
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        optimizer.zero_grad()
    return float(loss.detach())


def test(model, device):
    model.eval()
    with torch.no_grad():
        points, labels = next(iter(es.ResumableLoader(Points(), batch_size=SAMPLES)))
        return {"loss": nn.functional.cross_entropy(model(points.to(device)), labels.to(device)) + 0.01 * drawn()}


MISTAKES = {
    "mixed precision": {"mixed_precision": "bf16"},
    "epochs do not end updates": {"gradient_accumulation_plugin": accelerate.utils.GradientAccumulationPlugin(num_steps=2, sync_with_dataloader=False)},
}
