"""A worker of docs/trainer_protocol.md that trains chain.py's chain, with Python's standard library alone: small enough for a
hundred of them on one machine. Prints at each step whose it is, by the hyper-parameter `mark`."""

import argparse
import contextlib
import hashlib
import json
import os
import signal
import socket
import time

import chain

PARAMETERS = [{"name": "lr", "type": "VALUE_TYPE_FLOATING", "defaultValue": {"floating": 0.1}},
              {"name": "mark", "type": "VALUE_TYPE_TEXT", "defaultValue": {"text": "nobody"}, "initial": True},
              {"name": "step_seconds", "type": "VALUE_TYPE_FLOATING", "defaultValue": {"floating": 0.1}, "initial": True}]  # fmt: skip
DESCRIPTION = {"protocolVersion": 1, "deviceKind": "any", "capabilities": ["proceed", "reload"],
               "trainers": [{"name": chain.NAME, "codeDigest": "1", "dataDigest": "none", "evaluationDigest": "1",
                             "hyperParameters": PARAMETERS, "metrics": [chain.METRIC]}]}  # fmt: skip


class Failure(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.reply = {"failure": {"kind": f"FAILURE_KIND_{kind}", "message": message, "stateIntact": False}}


class Worker:
    def __init__(self):
        self.begun = None  # the values at step 0; none: no training
        self.values = {}
        self.state = b""
        self.step = 0
        self.run = 0
        self.log = None

    def answer(self, request):
        kind = next(key for key in request if key != "id")
        if kind not in ("describe", "init") and self.begun is None:
            raise Failure("REQUEST", "no training")
        return getattr(self, kind)(request[kind])

    def describe(self, _):
        return {"describe": DESCRIPTION}

    def init(self, init):
        self.begun, self.values, self.step = plain(init["values"]), {}, 0
        self.state = chain.begin(self.begun)
        return self.proceed(init)

    def proceed(self, proceed):
        self.run = int(proceed["runId"])
        if self.log is not None:
            os.close(self.log)
        path = proceed.get("stepLog")
        self.log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644) if path else None
        return {"done": {}}

    def setup(self, setup):
        self.values.update(plain(setup.get("values", {})))
        return {"done": {}}

    def train(self, train):
        if int(train["step"]) != self.step + 1:
            raise Failure("REQUEST", f"step {train['step']} came at step {self.step}")
        seconds = self.begun["step_seconds"]
        time.sleep(seconds)
        self.step += 1
        self.state = chain.link(self.state, self.step, {**self.begun, **self.values})
        with contextlib.suppress(OSError):  # a full disk: training is worth more than what is said of it
            print(f"{self.begun['mark']} is at step {self.step}", flush=True)
        if self.log is not None:
            with contextlib.suppress(OSError):
                os.write(self.log, b"%d %d %.6f\n" % (self.run, self.step, seconds))
        return {"train": {"metrics": {"loss": 1 - chain.score(self.state), "samples": 1}, "seconds": seconds}}

    def evaluate(self, _):
        return {"evaluate": {"metrics": {chain.METRIC: chain.score(self.state)}, "seconds": 0.001}}

    def save(self, save):
        named = chain.arrays(self.state, self.step)
        digest = chain.state_sha256(named)
        try:
            size = write(save["path"], named, json.dumps(save["identity"], separators=(",", ":")), digest)
        except OSError as error:
            return {"failure": {"kind": "FAILURE_KIND_CHECKPOINT", "message": str(error), "stateIntact": True}}
        return {"save": {"stateSha256": digest, "bytes": size, "blockingSeconds": 0.001, "seconds": 0.001}}

    def load(self, load):
        self.state, self.step = read(load["path"])
        return {"done": {}}


def plain(values):
    """Values as protobuf's JSON has them: each has the field of its type. There are floats and texts."""
    return {name: float(value["floating"]) if "floating" in value else value["text"] for name, value in values.items()}


def write(path, named, identity, digest):
    metadata = {"espalier.version": "1", "espalier.identity": identity, "espalier.state_sha256": digest,
                "espalier.head_sha256": hashlib.sha256(f"{identity}\0{digest}".encode()).hexdigest()}  # fmt: skip
    head, at = {"__metadata__": metadata}, 0
    for name, (dtype, shape, data) in sorted(named.items()):
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".tmp", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(data for _, (_, _, data) in sorted(named.items())))
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".tmp", path)
    return 8 + len(text) + at


def read(path):
    """(state, step). The file is the service's to check, and is checked again by what comes of it."""
    try:
        with open(path, "rb") as file:
            head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            data = file.read()
        state, step = (data[slice(*head[name]["data_offsets"])] for name in ("state", "step"))
        return state, int.from_bytes(step, "little")
    except (OSError, ValueError, KeyError) as error:
        raise Failure("CHECKPOINT", f"{path}: {error}") from error


def receive(connection, count):
    data = b""
    while len(data) < count and (more := connection.recv(count - len(data))):
        data += more
    return data


def main(fd):
    for ignored in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    connection, worker = socket.socket(fileno=fd), Worker()
    while len(length := receive(connection, 4)) == 4:
        request = json.loads(receive(connection, int.from_bytes(length, "little")))
        try:
            reply = worker.answer(request)
        except Failure as failure:
            worker.begun, reply = None, failure.reply
        text = json.dumps({"id": request["id"], **reply}).encode()
        connection.sendall(len(text).to_bytes(4, "little") + text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    try:
        main(parser.parse_args().fd)
    except (ConnectionError, BrokenPipeError):
        pass  # the node manager is gone
