"""Connecting to a server, and the studies on it."""

from __future__ import annotations

import pathlib
import threading
import weakref
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from espalier.client import access
from espalier.client.connection import Connection
from espalier.client.draft import Draft
from espalier.client.named_trainer import named_trainer
from espalier.client.offers import Server, TrainerOffer, server_of, trainer_of
from espalier.client.protocol import number_of
from espalier.client.retry import RetryPolicy
from espalier.client.specification import GOALS, Specification
from espalier.client.say import say
from espalier.client.study import Study
from espalier.client.study_stream import StudyStream
from espalier.client.trainer_code import place_of
from espalier.client.trial import Trial
from espalier.client.encryption import Encryption
from espalier.client.views import Listing, listing_of
from espalier.errors import InvalidArgument, NotFound
from espalier.sequences.spaces import Grid, Space
from espalier.sequences.values import shown


def connect(address: str | None = None, token: str | None = None, data: str | PathLike | None = None,
            policy: RetryPolicy = RetryPolicy(), *, ca_file: str | PathLike | None = None, certificate_file: str | PathLike | None = None,
            key_file: str | PathLike | None = None, server_name: str | None = None, plaintext: bool | None = None) -> Client:  # fmt: skip
    """A client of the server at `address`, "unix:/path" or "host:port"; left out: ESPALIER_SERVER, or the one that `espalier up` runs in the
    data directory `data`, ESPALIER_DATA, or ~/.espalier. `token` says who calls; left out: ESPALIER_TOKEN, or the token beside a Unix
    socket. A server beyond this machine is called by TLS: `ca_file` holds the authorities of its certificate, left out: those that gRPC
    brings; `certificate_file` and `key_file` your own, if it asks for one; `server_name`: whom its certificate names, if not the
    address's host; `plaintext`: not by TLS. Left out: ESPALIER_CA_FILE and so on. Raises Unavailable if nobody answers within 3 s,
    Unauthenticated if `token` is none, InvalidArgument of a file. Once connected, calls are tried again for as long as `policy` says, by
    default until the server is there again."""
    access.refuse_in_trainers()
    address = address or access.server_address(data)
    encryption = Encryption.given(ca_file=ca_file, certificate_file=certificate_file, key_file=key_file, server_name=server_name,
                                  plaintext=plaintext)  # fmt: skip
    return Client(Connection(address, access.token_for(address, token), policy, encryption), access.data_directory(data))


class Client:
    """Made by `es.connect()`. Any thread may use it. `with es.connect() as client:` closes it; so does the end of the process."""

    def __init__(self, connection: Connection, data: pathlib.Path):
        self.connection = connection
        self.data = data  # of the service on this machine, if it is one
        self._lock = threading.Lock()
        self._streams: dict[int, StudyStream] = {}
        self._end = weakref.finalize(self, _close, connection, self._streams)

    def study(self, name: str, *, trainer: Any, data: str = "", step: str | int = "epoch", space: Grid | Space | Mapping | None = None,
              metric: str | None = None, goal: str | None = None, steps: int | None = None, share: str = "team", keep: str = "best",
              check: str = "beside", evaluate_every: int = 0, stop: Mapping[str, Any] | None = None, python: str | None = None,
              environment: Mapping[str, str] | None = None, reuse_from: Any = None, policy: Mapping[str, Any] | None = None,
              deadline: str | None = None, priority: float = 1.0) -> Study:  # fmt: skip
        """A study, which is created with its first trials. Arguments as in study files: `trainer`: a name that servers know, such as
        "mlp", "FILE.py:NAME", a subclass of es.Trainer, a function with @es.loop, "script:FILE", "library:FILE.so", "torchscript:FILE.pt" or
        "command:LINE", what starts a worker. `data`: a name that servers know, or a folder. `step`: "epoch", or "200 updates". `space`: what is
        tried. `metric`: left out: the trainer's only one; `goal`: "max" or "min". `steps`: how many each trial takes, where a call does
        not say. `share`: with whom: "nobody", "study", "team", "everyone". `keep`: whose final states are never evicted: "best",
        "all", "none". `check`: of your own code: "beside", "first", "off". `evaluate_every`: steps, as runs pass; 0: only where asked.
        `stop`: the study ends at the first of {"after": "2h", "device_hours": 10, "metric": 0.95}; what waits by then is cancelled.
        `python`, `environment`: for your own code. `reuse_from`: another study (or its id), of other code: each trial begins with the
        deepest state that it left on the trial's path, {"study": 12, "until": 60} with none behind a step. `policy`, what the service's
        policy goes by, if it is one that does: {"may_stop": True}: it may cancel trials by their metrics; "min": 5: not before so many steps;
        "speeds": {2: 1.9, 4: 3.4}: how fast it trains on so many slots of a device. `deadline`: "2h": by when the best result counts; it
        stops nothing. `priority`: its part of the team's slots against other studies. Raises InvalidArgument with the field."""
        own = named_trainer(trainer, data)
        place = place_of(trainer) if own is None else None
        if place is None and (python or environment):
            field = "python" if python else "environment"
            raise InvalidArgument(f"is for a trainer in your own code, such as train.py:Digits; {trainer} is none", field)
        if own is not None and own.data is not None:
            data = str(own.data)
        specification = Specification(
            name=name, trainer_said=str(place) if place is not None else trainer, data=data, step=step, space=space, metric=metric, goal=goal,
            share=share, keep=keep, check=check, evaluate_every=evaluate_every, stop=stop, python=python, environment=environment or {},
            reuse_from=reuse_from, policy=policy, deadline=deadline, priority=priority)  # fmt: skip
        return Study(self, draft=Draft(self.connection, specification, steps, own or place, say))

    def open_study(self, study: int | str) -> Study:
        """One that exists, by its id, or the newest of that name. Raises NotFound."""
        if isinstance(study, bool) or not isinstance(study, (int, str)) or not study:
            raise InvalidArgument(f"expected a study's id or name, got {shown(study)}", "study")
        wanted = {"name": study} if isinstance(study, str) else {"study_id": study}
        try:
            return Study(self, self.connection.call("GetStudy", **wanted).study.study_id)
        except NotFound as error:
            raise NotFound(error.message, "study") from None

    def trial(self, trial_id: int) -> Trial:
        """A trial by its id. Raises NotFound."""
        answer = self.connection.call("GetTrial", trial_id=trial_id)
        return Trial(Study(self, answer.study_id), trial_id, answer.trial)

    def studies(self, *, state: str | None = None, metric: str | None = None, goal: str = "max") -> Iterator[Listing]:
        """The team's studies, the newest first; with `metric` those that seek it by `goal`, the best first. `state`: "running" or
        "finished". Read in pages as they are looked at."""
        if goal not in GOALS:
            raise InvalidArgument(f"expected max or min, got {shown(goal)}", "goal")
        for page in self.connection.pages("ListStudies", state=state or "", metric=metric or "", goal=number_of("Goal", GOALS[goal])):
            yield from map(listing_of, page.studies)

    def trainers(self) -> list[TrainerOffer]:
        """The trainers that servers have of their own."""
        return [trainer_of(each) for each in self.connection.call("ListTrainers").trainers]

    def servers(self) -> list[Server]:
        """The servers that train."""
        return [server_of(each) for each in self.connection.call("ListServers").servers]

    def close(self) -> None:
        """Futures that wait get Aborted; studies go on."""
        self._end()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return f"<Client of {self.connection.address}>"

    def _stream(self, study_id):
        with self._lock:
            if study_id not in self._streams:
                self._streams[study_id] = StudyStream(self.connection, study_id)
            return self._streams[study_id]


def _close(connection, streams):
    for stream in streams.values():
        stream.close()
    connection.close()
