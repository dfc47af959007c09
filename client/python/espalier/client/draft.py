"""A study that is not created yet: what its user has said, made into what a server is asked for."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from espalier.client.connection import Connection
from espalier.client.named_trainer import NamedTrainer
from espalier.client.protocol import number_of
from espalier.client.specification import CHECKS, Specification
from espalier.client.trainer_code import Place, describe, pack, reference_of
from espalier.client.tuners import BuiltIn
from espalier.client.value_types import ENUM, guessed_types
from espalier.errors import InvalidArgument
from espalier.sequences.spaces import Grid, hyper_parameters

TRAINER_PATIENCE_SECONDS = 10.0  # of a server that has just started, and has none yet
TRAINER_PAUSE_SECONDS = 0.1
SYNTHETIC = "synthetic"  # takes any hyper-parameters, and is forecast without a server


@dataclass
class Draft:
    """`steps`: of each trial, where a call does not say. `own`: the user's own trainer, or his data; None: servers have both of
    their own."""

    connection: Connection
    specification: Specification
    steps: int | None
    own: Place | NamedTrainer | None
    say: Callable[[str], None]
    _description: Any = None  # of the user's own trainer, once a server has described it

    def resolved(self, trials: Iterable[Mapping[str, Any]] = (), *, for_forecast: bool = False, tuner: BuiltIn | None = None) -> dict[str, Any]:
        """The fields of a StudySpecification: the trainer described by a server, metric and types of values filled in. `trials`: those
        that are about to be submitted; with a `tuner` those that it is given, none: the study's grid. Raises InvalidArgument with the
        field, FailedPrecondition if no server runs the trainer."""
        trainer = self._described() if self.own is not None else self._registered()
        said = self.specification
        if said.metric is None and trainer is not None and len(trainer.metrics) == 1:
            said.metric = trainer.metrics[0]
        if said.metric is None and trainer is not None and trainer.metrics:
            raise InvalidArgument(f"is missing; expected one of: {', '.join(trainer.metrics)}", "metric")
        takes_any = trainer.takes_any if trainer is not None else for_forecast and said.trainer_said == SYNTHETIC
        declared = {each.name for each in trainer.hyper_parameters} if trainer is not None else set()
        undeclared = self._types(trials, declared) if takes_any else {}
        definition = said.definition(tuner, trials or None) if tuner is not None else said.definition()
        request = said.request(definition, {name: ENUM[kind] for name, kind in undeclared.items()}, tuner)
        if isinstance(self.own, NamedTrainer) and self.own.kind == "built-in":
            request["check"] = number_of("CheckWhen", CHECKS["off"])  # the service's own are sound
        return request

    def _described(self):
        if self._description is None:
            said = self.specification
            if isinstance(self.own, Place):
                packed = pack(self.own, said.python)
                reference, archive = reference_of(self.own, packed, said.python, said.environment), packed.archive
            else:
                if self.own.kind == "built-in" and (offered := self._registered()) is not None:
                    return offered
                archive = self.own.archive
                reference = self.own.reference(archive)
            digest, offers = describe(self.connection, reference, archive, self.say)
            self._description = offers[0] if isinstance(self.own, Place) else self.own.chosen(offers)
            said.trainer, said.reference_digest = self._description.name, digest
            said.data = said.data or self._description.data
        return self._description

    def _registered(self):
        """None: no server has it, which the master says better."""
        until = time.monotonic() + TRAINER_PATIENCE_SECONDS
        while True:
            trainers = self.connection.call("ListTrainers").trainers
            if trainers or time.monotonic() > until:
                break
            time.sleep(TRAINER_PAUSE_SECONDS)
        said = self.specification
        return next((each for each in trainers if (each.name, each.data) == (said.trainer_said, said.data)), None)

    def _types(self, trials, declared):
        values = defaultdict(list)
        space = self.specification.space
        if isinstance(space, Grid):
            for name, tried in space.lists.items():
                values[name] += tried
            for name, value in space.fixed.items():
                values[name].append(value)
        elif space is not None:
            for name, value in space.hyper_parameters.items():
                values[name].append(value)
        for trial in trials:
            for name, value in hyper_parameters(trial).items():
                values[name].append(value)
        return guessed_types({name: tried for name, tried in values.items() if name not in declared})
