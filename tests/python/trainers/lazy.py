"""Trainers that import a package when they are begun, or in their first step: by a name that stands in their sources, and by one that does
not."""

import importlib

from small import Small

import espalier as es

HIDDEN = "_".join(["lazy", "hidden"])


class ByName(Small):
    def update(self, points, labels):
        import lazy_named

        assert lazy_named.version
        return super().update(points, labels)


class InInit(Small):
    def init(self, hp):
        super().init(hp)
        importlib.import_module(HIDDEN)


class InAStep(Small):
    def update(self, points, labels):
        importlib.import_module(HIDDEN)
        return super().update(points, labels)


class Ignoring(InAStep):
    ignore_packages = ["lazy-hidden"]


class InAnEvaluation(Small):
    def evaluate(self):
        importlib.import_module(HIDDEN)
        return super().evaluate()


@es.loop(metrics=["loss"], version="1")
def in_a_loop(_):
    counts = {"steps": 0}
    es.track(counts)
    es.evaluate(lambda: {"loss": 0.0})
    for _ in es.steps():
        importlib.import_module(HIDDEN)
        counts["steps"] += 1
        es.report(loss=0.0, samples=1)
