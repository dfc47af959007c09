"""The messages and calls of proto/espalier/v1, from the set of their descriptors: `protocol.bin` beside this file in an installed package,
made once by setup.py; in a checkout made by grpcio-tools when it is first needed, and kept in the user's cache. There is no generated
code, and so none that fits one version of protobuf or gRPC alone, nor meets another package's in one process."""

import hashlib
import os
import pathlib
import tempfile
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from espalier import __version__
from espalier.errors import WrongVersion

FILES = ("checkpoint", "inspect", "server", "study", "user")
PACKAGE = "espalier.v1"
HERE = pathlib.Path(__file__).resolve().parent
BUILT = HERE / "protocol.bin"
PROTOS = HERE.parents[3] / "proto"  # of a checkout


class Method(NamedTuple):
    """One call: its name on the wire, what it is given, what it answers with, one after the other if it is a stream."""

    path: str
    request: type
    response: type
    is_stream: bool


class _Messages:
    """`messages.CreateStudyRequest(...)`: each message's class, by its name."""

    def __getattr__(self, name: str) -> Any:
        message = message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))
        setattr(self, name, message)
        return message


messages = _Messages()
_loaded = None


def methods() -> dict[str, Method]:
    """Every call by its name: no two services have one of the same."""
    found = {}
    for file in FILES:
        for service in _pool().FindFileByName(f"espalier/v1/{file}.proto").services_by_name.values():
            for method in service.methods:
                found[method.name] = Method(f"/{service.full_name}/{method.name}",
                                            message_factory.GetMessageClass(method.input_type),
                                            message_factory.GetMessageClass(method.output_type), method.server_streaming)  # fmt: skip
    return found


def number_of(enum: str, name: str) -> int:
    """The value of an enum that is called `NAME` after its common beginning: number_of("Goal", "max") is GOAL_MAXIMIZE's."""
    return _pool().FindEnumTypeByName(f"{PACKAGE}.{enum}").values_by_name[name].number


def name_of(enum: str, number: int) -> str:
    """The name of an enum's value. Raises WrongVersion of one that a newer server knows."""
    values = _pool().FindEnumTypeByName(f"{PACKAGE}.{enum}").values_by_number
    if number not in values:
        raise misunderstood(f"the value {number} of {enum}")
    return values[number].name


def misunderstood(what: str) -> WrongVersion:
    """The error of an answer that this package does not know, and may not guess at."""
    return WrongVersion(f"the server says something that this package, espalier/{__version__}, does not know: {what}; the server is newer: "
                        "install the package that came with it")  # fmt: skip


def descriptor_set(protos: pathlib.Path) -> bytes:
    """The descriptors of FILES and of all that they import, as grpcio-tools reads them from this folder. Raises RuntimeError."""
    try:
        from grpc_tools import protoc
    except ModuleNotFoundError:
        raise RuntimeError(f"{HERE} is part of a checkout, and reads {protos} by grpcio-tools, which is not installed: "
                           "pip install grpcio-tools, or install the package (pip install client/python)") from None  # fmt: skip
    well_known = pathlib.Path(protoc.__file__).parent / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "protocol.bin"
        names = [f"espalier/v1/{file}.proto" for file in FILES]
        if protoc.main(["protoc", f"-I{protos}", f"-I{well_known}", "--include_imports", f"--descriptor_set_out={target}", *names]):
            raise RuntimeError(f"{protos} cannot be read by grpcio-tools")
        return target.read_bytes()


def _pool():
    global _loaded
    if _loaded is None:
        pool = descriptor_pool.DescriptorPool()
        for file in descriptor_pb2.FileDescriptorSet.FromString(_content()).file:
            pool.Add(file)
        _loaded = pool
    return _loaded


def _content():
    if BUILT.is_file():
        return BUILT.read_bytes()
    sources = b"".join(path.read_bytes() for path in sorted(PROTOS.glob("espalier/v1/*.proto")))
    if not sources:
        raise RuntimeError(f"{BUILT} is missing: install the package again")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "espalier"
    kept = cache / f"protocol-{hashlib.sha256(sources).hexdigest()[:16]}.bin"
    if kept.is_file():
        return kept.read_bytes()
    content = descriptor_set(PROTOS)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache, delete=False) as file:
            file.write(content)
        os.replace(file.name, kept)  # whole or not at all, whoever makes it besides
    except OSError:
        pass  # it is made again next time
    return content
