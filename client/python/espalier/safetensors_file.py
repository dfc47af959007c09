"""The checkpoint file of docs/trainer_protocol.md, "Checkpoint files": arrays in the layout of safetensors
(https://github.com/huggingface/safetensors, "Format"), with digests in its head. Arrays go to and from the file as they lie in
memory: there is never a second copy of the state."""

import ctypes
import hashlib
import json
import math
import os
import sys

import torch

from espalier.failure import CheckpointError
from espalier.state import ARRAY_TYPES

assert sys.byteorder == "little", "arrays lie in files as they lie in memory, with the lowest byte first"

HEAD_BYTES_MAX = 100_000_000
TYPES_BY_NAME = {name: dtype for dtype, name in ARRAY_TYPES.items()}


def state_sha256(arrays):
    """SHA-256, hexadecimal, of named arrays, in the order of their names' bytes: it names the state."""
    digest = hashlib.sha256()
    for name, tensor in in_order(arrays):
        _describe(digest, name, ARRAY_TYPES[tensor.dtype], tensor.shape)
        digest.update(bytes_of(tensor))
    return digest.hexdigest()


def write(path, arrays, identity):
    """Writes `arrays` (name -> contiguous tensor on the CPU) to `path`, whole or not at all, synced.
    `identity`: the request's, as JSON values. Returns (SHA-256 of the state, bytes of the file). Raises CheckpointError."""
    sha256 = state_sha256(arrays)
    head = _head(arrays, json.dumps(identity, separators=(",", ":")), sha256)
    temporary = path + ".tmp"
    try:
        with open(temporary, "wb", buffering=0) as file:
            _write_all(file, len(head).to_bytes(8, "little") + head)
            for _, tensor in in_order(arrays):
                _write_all(file, bytes_of(tensor))
            os.fsync(file.fileno())
            byte_count = file.tell()
        os.rename(temporary, path)
    except OSError as error:
        raise CheckpointError(f"cannot write {path}: {error}") from error
    return sha256, byte_count


def read(path):
    """Name -> tensor, which own their memory; the file was checked from end to end. Raises CheckpointError."""
    try:
        with open(path, "rb", buffering=0) as file:
            return _read(file, os.fstat(file.fileno()).st_size)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"cannot read {path}: {type(error).__name__}: {error}") from error


def in_order(arrays):
    return sorted(arrays.items(), key=lambda item: item[0].encode())


def bytes_of(tensor):
    """The memory of a contiguous tensor on the CPU, not copied."""
    byte_count = tensor.numel() * tensor.element_size()
    if byte_count == 0:
        return memoryview(b"")
    return memoryview((ctypes.c_char * byte_count).from_address(tensor.data_ptr())).cast("B")


def _head(arrays, identity, sha256):
    metadata = {
        "espalier.version": "1",
        "espalier.identity": identity,
        "espalier.state_sha256": sha256,
        "espalier.head_sha256": _head_sha256(identity, sha256),
    }
    head = {"__metadata__": metadata}
    begin = 0
    for name, tensor in in_order(arrays):
        end = begin + tensor.numel() * tensor.element_size()
        head[name] = {"dtype": ARRAY_TYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode()
    if len(text) > HEAD_BYTES_MAX:
        raise CheckpointError(f"the state's {len(arrays)} arrays need a head of more than {HEAD_BYTES_MAX} bytes")
    return text + b" " * (-len(text) % 8)


def _read(file, byte_count):
    length = int.from_bytes(_read_exactly(file, bytearray(8)), "little")
    if length > min(HEAD_BYTES_MAX, byte_count - 8):
        raise ValueError(f"a head of {length} bytes in a file of {byte_count}")
    head = json.loads(_read_exactly(file, bytearray(length)))
    metadata = head.pop("__metadata__")
    if metadata["espalier.version"] != "1":
        raise ValueError(f"version {metadata['espalier.version']}, not 1")
    sha256 = metadata["espalier.state_sha256"]
    if metadata["espalier.head_sha256"] != _head_sha256(metadata["espalier.identity"], sha256):
        raise ValueError("the head is damaged")
    arrays, digest = {}, hashlib.sha256()
    end = 0
    for name, entry in in_order(head):
        dtype, shape = TYPES_BY_NAME[entry["dtype"]], entry["shape"]
        begin, end = end, end + math.prod(shape) * dtype.itemsize
        if entry["data_offsets"] != [begin, end] or end > byte_count:
            raise ValueError(f"the array {name} is not where its size says")
        arrays[name] = torch.empty(shape, dtype=dtype)
        _describe(digest, name, entry["dtype"], shape)
        digest.update(_read_exactly(file, bytes_of(arrays[name])))
    if 8 + length + end != byte_count:
        raise ValueError(f"{byte_count} bytes, expected {8 + length + end}")
    if digest.hexdigest() != sha256:
        raise ValueError("the arrays are damaged")
    return arrays


def _describe(digest, name, dtype, shape):
    digest.update(f"{name}\0{dtype}\0{','.join(map(str, shape))}\0".encode())


def _head_sha256(identity, sha256):
    return hashlib.sha256(f"{identity}\0{sha256}".encode()).hexdigest()


def _read_exactly(file, buffer):
    rest = memoryview(buffer)
    while rest:
        count = file.readinto(rest)
        if not count:
            raise ValueError("it is cut short")
        rest = rest[count:]
    return buffer


def _write_all(file, content):
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest):]
