"""The worker of examples/go, which shares no code with the others: a study that it trains is, shared or disturbed, the same to the
bit; and what docs/trainer_protocol.md asks of a worker, asked of it alone."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import unittest

from service import BIN, PATIENCE_SECONDS, Service, results, wait_until

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "go"
VALUES = {"bs": {"integer": 32}, "lr": {"floating": 0.01}, "momentum": {"floating": 0.9}, "seed": {"integer": 1}}
SEQUENCES = {name: value for name, value in VALUES.items() if name != "seed"}
IDENTITY = {"planId": 1, "planNodeId": 2, "step": 0, "leadershipId": 3, "runId": 5, "lineageDigest": "0" * 32}
FRAME_BYTES_MAX = 16 << 20


def go(*arguments, cwd=SOURCE):
    """Runs a Go tool, which needs nothing from outside; what it compiles of the standard library stays in the build folder."""
    folder = BIN.parent / "go"
    environment = dict(os.environ, GOPATH=str(folder), GOCACHE=str(folder / "cache"), GOFLAGS="-buildvcs=false", GOPROXY="off",
                       GOTOOLCHAIN="local", CGO_ENABLED="0")
    return subprocess.run(arguments, cwd=cwd, env=environment, check=True, capture_output=True, text=True)


def setUpModule():
    global FOLDER, WORKER
    FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="espalier go "))
    FOLDER.chmod(0o755)
    WORKER = FOLDER / "go-worker"
    go("go", "build", "-o", str(WORKER), ".")


def tearDownModule():
    shutil.rmtree(FOLDER)


def study(name, share):
    """Twelve trials over lr, bs and momentum. The rates are so small that no step makes the training forget where it came from,
    and steps end amid epochs: what is missing in a state stays visible."""
    return f"""
study: {name}
trainer: regression
step: 20001 updates
hyper_parameters:
  lr: [0.000001, "MultiStep(0.000001, [4], gamma=0.1)", "Exponential(0.000001, 0.9)"]
  bs: [32, "MultiStep(32, [8], gamma=2)"]
  momentum: [0.9, "Piecewise([0.9, 0.5], [5])"]
  seed: 7
metric: {{name: mse, goal: min}}
tuner: {{sha: {{min: 4, max: 16, reduction: 2}}}}
share: {share}
"""


class GoService(Service):
    """A service with a second server, whose workers are Go programs. Its own server has none of their trainers."""

    node = None

    def __enter__(self):
        super().__enter__()
        configuration = (self.data / "config" / "node_manager.txt").read_text()
        for field, value in (("server", "go"), ("work_directory", f"{self.root}/go"), ("  command", str(WORKER)),
                             ("token_file", self.node_token("go", "go"))):
            configuration, count = re.subn(f'^{field}: ".*"$', f'{field}: "{value}"', configuration, flags=re.MULTILINE)
            assert count == 1, configuration
        with open(self.root / "node.log", "ab") as log:
            self.node = subprocess.Popen([BIN / "espalier-node", self.write("node.txt", configuration)],
                                         stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: any(t["name"] == "regression" for t in self.json("trainer", "list")), "the trainer is known")
        return self

    def __exit__(self, *error):
        if self.node is not None:
            self.note_processes()
            self.node.terminate()
            code = self.node.wait(timeout=PATIENCE_SECONDS)
            assert error[0] is not None or code == 0, self.log()
        super().__exit__(*error)

    def roots(self):
        return [self.up.pid] + ([self.node.pid] if self.node is not None and self.node.poll() is None else [])

    def log(self):
        return (self.root / "node.log").read_text()

    def has_trained(self):
        """Whether a line is in any step log."""
        return any(file.stat().st_size for file in (self.root / "go" / "steps").iterdir())


class StudyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with GoService() as service:
            for name, share in (("shared", "study"), ("alone", "nobody")):
                service.run("study", "run", service.write(f"{name}.yaml", study(name, share)))
            cls.shared, cls.alone = results(service, "shared"), results(service, "alone")
            cls.steps = {name: service.json("study", "show", name)["steps"] for name in ("shared", "alone")}

    def test_trials_that_share_end_as_those_that_train_alone_to_the_bit(self):
        self.assertEqual(len(self.shared), 12)
        self.assertEqual(self.shared, self.alone)
        self.assertTrue(all(digest for _, _, _, digest in self.shared.values()))

    def test_shared_steps_are_trained_once_and_none_is_wasted(self):
        shared, alone = self.steps["shared"], self.steps["alone"]
        self.assertEqual(shared["trained"], shared["unique"])
        self.assertEqual((shared["re_derived"], shared["wasted"]), (0, 0))
        self.assertEqual(alone["trained"], alone["claimed"])
        self.assertLess(shared["trained"], alone["trained"])

    def test_a_worker_that_is_killed_in_mid_study_changes_no_result(self):
        with GoService() as service:
            run = service.begin("study", "run", service.write("killed.yaml", study("killed", "study")))
            wait_until(service.has_trained, "a step is trained")
            for pid in service.processes()["go worker"]:
                with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                    os.kill(pid, signal.SIGKILL)
            self.assertIsNone(run.poll(), "the study was over too soon")
            _, errors = run.communicate(timeout=300)
            self.assertEqual(run.returncode, 0, errors)
            self.assertIn("killed by signal", service.log())
            self.assertEqual(results(service, "killed"), self.shared)
            steps = service.json("study", "show", "killed")["steps"]
            self.assertEqual(steps["wasted"], 0)
            self.assertEqual(steps["trained"] - steps["re_derived"], steps["unique"])


class Worker:
    """A worker without a node manager. Use as a context manager: closes the socket, and expects that the worker ends well."""

    def __init__(self):
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen([WORKER, "--fd", str(theirs.fileno())], stdin=subprocess.DEVNULL,
                                            stderr=subprocess.PIPE, pass_fds=[theirs.fileno()], text=True)
        self.socket.settimeout(PATIENCE_SECONDS)
        self.id = 0
        self.ends_well = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.socket.close()
        _, errors = self.process.communicate(timeout=PATIENCE_SECONDS)
        assert error[0] is not None or (self.process.returncode == 0) == self.ends_well, errors

    def send(self, kind, **fields):
        self.id += 1
        frame = json.dumps({"id": self.id, kind: fields}).encode()
        self.socket.sendall(struct.pack("<I", len(frame)) + frame)

    def read(self, count):
        content = b""
        while len(content) < count:
            piece = self.socket.recv(count - len(content))
            if not piece:
                raise EOFError
            content += piece
        return content

    def receive(self):
        return json.loads(self.read(struct.unpack("<I", self.read(4))[0]))

    def ask(self, kind, **fields):
        """What is answered."""
        self.send(kind, **fields)
        reply = self.receive()
        assert reply.pop("id") == self.id, reply
        return reply

    def done(self, kind, **fields):
        reply = self.ask(kind, **fields)
        assert reply == {"done": {}}, reply

    def begin(self, values=None, step=None, log=""):
        values = {**VALUES, **(values or {})}
        self.done("init", trainer="regression", step=step or {"updates": "7"}, values=values, runId=2**53 + 1, stepLog=str(log))
        self.done("setup", values={name: value for name, value in values.items() if name != "seed"})

    def train(self, steps):
        return [self.ask("train", step=step)["train"]["metrics"] for step in steps]

    def save(self, path, step):
        return self.ask("save", path=str(path), identity={**IDENTITY, "step": step})

    def failure(self, kind, **fields):
        failure = self.ask(kind, **fields)["failure"]
        assert failure["message"], failure
        return failure["kind"].removeprefix("FAILURE_KIND_"), failure["stateIntact"]


def read_safetensors(path):
    """(metadata, head without it, bytes behind the head) of a file."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    head = json.loads(content[8 : 8 + length])
    return head.pop("__metadata__"), head, content[8 + length :]


class ProtocolTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))

    def trained(self, name="saved", steps=2, **begin):
        """A file with the state of a training."""
        with Worker() as worker:
            worker.begin(**begin)
            worker.train(range(1, steps + 1))
            worker.save(self.folder / name, steps)
        return self.folder / name

    def test_the_sources_are_formatted_and_go_vet_finds_nothing(self):
        self.assertEqual(go("gofmt", "-l", ".").stdout, "")
        go("go", "vet", ".")

    def test_a_saved_file_is_a_safetensors_file_that_says_the_truth_of_itself(self):
        with Worker() as worker:
            worker.begin()
            worker.train([1])
            said = worker.save(self.folder / "saved", 1)["save"]
        metadata, head, content = read_safetensors(self.folder / "saved")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["saved"])
        self.assertEqual(said["bytes"], (self.folder / "saved").stat().st_size)
        self.assertEqual((said["bytes"] - len(content)) % 8, 0)
        digest, at = hashlib.sha256(), 0
        for name in sorted(head):
            begin, end = head[name]["data_offsets"]
            self.assertEqual(begin, at)
            shape = ",".join(map(str, head[name]["shape"]))
            digest.update(f"{name}\0{head[name]['dtype']}\0{shape}\0".encode() + content[begin:end])
            at = end
        self.assertEqual(at, len(content))
        self.assertEqual(said["stateSha256"], digest.hexdigest())
        self.assertEqual(json.loads(metadata["espalier.identity"]), {**IDENTITY, "step": 1})
        self.assertEqual((metadata["espalier.version"], metadata["espalier.state_sha256"]), ("1", digest.hexdigest()))
        self.assertEqual(metadata["espalier.head_sha256"], hashlib.sha256(
            f"{metadata['espalier.identity']}\0{digest.hexdigest()}".encode()).hexdigest())

    def test_a_training_in_pieces_is_the_one_in_one_piece_at_every_step(self):
        with Worker() as worker:
            worker.begin()
            whole = worker.train(range(1, 41))
            expected = worker.save(self.folder / "whole", 40)["save"]["stateSha256"]
        for step in (1, 5, 32, 39):
            path = self.trained(f"part {step}", step)
            with Worker() as worker:
                worker.begin()
                worker.done("load", path=str(path))
                self.assertEqual(worker.train(range(step + 1, 41)), whole[step:])
                self.assertEqual(worker.save(self.folder / "pieces", 40)["save"]["stateSha256"], expected)

    def test_evaluating_changes_no_state(self):
        with Worker() as worker:
            worker.begin()
            worker.train([1])
            before = worker.save(self.folder / "before", 1)["save"]["stateSha256"]
            self.assertEqual(list(worker.ask("evaluate")["evaluate"]["metrics"]), ["mse"])
            self.assertEqual(worker.save(self.folder / "after", 1)["save"]["stateSha256"], before)

    def test_a_batch_never_spans_an_epochs_end(self):
        with Worker() as worker:
            worker.begin(values={"bs": {"integer": 600}}, step={"updates": 1})
            self.assertEqual([m["samples"] for m in worker.train(range(1, 5))], [600, 400, 600, 400])
            worker.begin(values={"bs": {"integer": 300}}, step={"epoch": True})
            self.assertEqual([m["samples"] for m in worker.train([1, 2])], [1000, 1000])

    def test_what_has_diverged_is_a_result_and_can_be_saved(self):
        with Worker() as worker:
            worker.begin(values={"lr": {"floating": 1e300}}, step={"updates": 100})
            self.assertEqual(worker.train([1])[0]["loss"], "NaN")
            self.assertEqual(worker.ask("evaluate")["evaluate"]["metrics"]["mse"], "NaN")
            self.assertIn("save", worker.save(self.folder / "saved", 1))

    def test_a_line_of_the_step_log_stands_for_each_step(self):
        with Worker() as worker:
            worker.begin(log=self.folder / "log")
            worker.train([1, 2])
            self.assertRegex((self.folder / "log").read_text(), rf"\A{2**53 + 1} 1 \d+\.\d{{6}}\n{2**53 + 1} 2 \d+\.\d{{6}}\n\Z")

    def test_the_state_of_another_training_is_refused(self):
        for other in ({"values": {"seed": {"integer": 2}}}, {"step": {"updates": 8}}):
            path = self.trained("other", **other)
            with Worker() as worker:
                worker.begin()
                self.assertEqual(worker.failure("load", path=str(path)), ("CHECKPOINT", False))
                self.assertEqual(worker.failure("train", step=1), ("REQUEST", False))
                worker.begin()

    def test_a_file_that_is_damaged_at_any_place_or_missing_is_refused(self):
        path = self.trained()
        content = path.read_bytes()
        damaged = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
                   for at in (0, 7, 8, 60, content.index(b"state_sha256") + 18, len(content) - 1)]
        damaged += [content[:0], content[:7], content[:100], content[:-1], content + b"\0"]
        with Worker() as worker:
            for each in damaged:
                path.write_bytes(each)
                worker.begin()
                self.assertEqual(worker.failure("load", path=str(path)), ("CHECKPOINT", False))
            worker.begin()
            self.assertEqual(worker.failure("load", path=str(self.folder / "missing")), ("CHECKPOINT", False))

    def test_a_state_that_cannot_be_written_leaves_the_training_intact(self):
        with Worker() as worker:
            worker.begin()
            self.assertEqual(worker.failure("save", path=str(self.folder / "no folder" / "saved"), identity=IDENTITY),
                             ("CHECKPOINT", True))
            worker.train([1])

    def test_requests_that_make_no_sense_are_refused(self):
        with Worker() as worker:
            begin = {"trainer": "regression", "step": {"epoch": True}, "values": VALUES, "runId": 5}
            for wrong in ({"trainer": "other"}, {"data": "digits"}, {"step": {}}, {"values": SEQUENCES}, {"runId": "x"},
                          {"values": {**VALUES, "seed": {"floating": 1}}}, {"values": {**VALUES, "other": {"integer": 1}}}):
                self.assertEqual(worker.failure("init", **{**begin, **wrong}), ("REQUEST", False), wrong)
            self.assertEqual(worker.failure("unheard of"), ("REQUEST", False))
            worker.done("init", **begin, unknown=1, stepLog=None)
            self.assertEqual(worker.failure("train", step=1), ("REQUEST", False))
            for values, kind in (({"seed": {"integer": 1}}, "REQUEST"), ({"bs": {"text": "a"}}, "REQUEST"),
                                 ({"bs": {"integer": 0}}, "TRAINER")):
                worker.begin()
                self.assertEqual(worker.failure("setup", values=values), (kind, False))
            worker.begin()
            self.assertEqual(worker.failure("train", step=2), ("REQUEST", False))

    def test_what_is_no_message_ends_it(self):
        for content in (struct.pack("<I", FRAME_BYTES_MAX + 1), struct.pack("<I", 3) + b"{\"a"):
            with Worker() as worker:
                worker.ends_well = False
                worker.socket.sendall(content)
                self.assertEqual(worker.socket.recv(1), b"")

    def test_stop_signals_are_left_alone_and_a_state_is_written_before_it_ends(self):
        with Worker() as worker:
            worker.begin()
            for number in (signal.SIGTERM, signal.SIGINT):
                worker.process.send_signal(number)
            worker.train([1])
            worker.send("save", path=str(self.folder / "saved"), identity={**IDENTITY, "step": 1})
        self.assertEqual([p.name for p in self.folder.iterdir()], ["saved"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
