"""A training's state as named arrays, and back: a tree of dicts, lists and tuples, with tensors and plain values at its leaves.

Each tensor becomes an array that is named by its path, with dots between keys. Tensors that share storage (tied weights) are saved
once, and a table says who sees which part. Everything that is no tensor, and that table, is written as canonical bytes (JSON of
nested lists, described at `_Flattening`) into one array of uint8, `TREE`. No pickle: reading a state runs no code of the file's.
"""

import json
from collections import Counter, OrderedDict

import torch

from espalier.failure import TrainerError

TREE = "espalier.tree"

# Types of arrays, as docs/trainer_protocol.md names them.
ARRAY_TYPES = {
    torch.bool: "BOOL", torch.uint8: "U8", torch.int8: "I8", torch.uint16: "U16", torch.int16: "I16", torch.float16: "F16",
    torch.bfloat16: "BF16", torch.uint32: "U32", torch.int32: "I32", torch.float32: "F32", torch.uint64: "U64",
    torch.int64: "I64", torch.float64: "F64",
}  # fmt: skip
DICTS = {"dict": dict, "ordered": OrderedDict, "counter": Counter}
LISTS = {"list": list, "tuple": tuple}


def flatten(tree, spare=None):
    """Name -> tensor on the CPU, contiguous: a copy, which shares nothing with `tree`. Costs one copy of the tensors, into the
    memory of `spare`, an earlier one that nobody needs any more, where it has a tensor of that name and form: that takes an eighth
    of what fresh memory takes. Raises TrainerError, which names by its key what is of no type that a state can hold."""
    return _Flattening(spare or {}).flatten(tree)


def unflatten(arrays):
    """The tree that `flatten` was given; it owns the arrays' memory. Raises ValueError, KeyError or TypeError for arrays that
    `flatten` did not make."""
    tree = json.loads(bytes(arrays[TREE].tolist()))
    return _Unflattening(arrays).read(tree)


class _Flattening:
    """Writes nodes as None, true, false, a whole number or a text as they are, and everything else as a list that begins with
    what it is: ["float", hexadecimal], ["bytes", hexadecimal], ["list" or "tuple", node...], ["dict" or "ordered" or "counter",
    [key, node]...], ["tensor", array, strides, offset, shape]; of a tensor alone in its storage and contiguous ["tensor", array];
    ["on", device, tensor's node] of one that is not on the CPU."""

    def __init__(self, spare):
        self.spare = spare
        self.arrays = {}
        self.tensors = []  # (path, tensor, node to complete)

    def flatten(self, tree):
        node = self.node(tree, ())
        self.arrays[TREE] = None
        for group in self.by_storage().values():
            self.add(group)
        text = json.dumps(node, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)  # keeps the arrays behind it aligned
        self.arrays[TREE] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        return self.arrays

    def node(self, value, path):
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return ["float", value.hex()]
        if kind is bytes:
            return ["bytes", value.hex()]
        if isinstance(value, torch.Tensor):
            return self.tensor(value, path)
        for name, each in LISTS.items():
            if kind is each:
                return [name, *(self.node(element, (*path, index)) for index, element in enumerate(value))]
        for name, each in DICTS.items():
            if kind is each:
                return [name, *([self.key(key, path), self.node(element, (*path, key))] for key, element in value.items())]
        raise TrainerError(f"{_name(path)} is of type {kind.__module__}.{kind.__qualname__}: a state holds tensors, None, booleans, "
                            "integers, floats, texts, bytes, and lists, tuples and dicts of those")  # fmt: skip

    def key(self, key, path):
        if type(key) in (bool, int, str):
            return key
        raise TrainerError(f"{_name(path)} has the key {key!r}: a dict in a state has texts and integers as keys")

    def tensor(self, tensor, path):
        if tensor.layout is not torch.strided or tensor.is_quantized or tensor.dtype not in ARRAY_TYPES:
            kind = tensor.dtype if tensor.layout is torch.strided else tensor.layout
            raise TrainerError(f"{_name(path)} is a tensor of {kind}: a file of arrays has no such type")
        node = ["tensor"]
        self.tensors.append((path, tensor.detach(), node))
        return node if tensor.device.type == "cpu" else ["on", str(tensor.device), node]

    def by_storage(self):
        groups = {}
        for path, tensor, node in self.tensors:
            key = (tensor.device, tensor.untyped_storage().data_ptr(), tensor.dtype) if tensor.numel() else (path,)
            groups.setdefault(key, []).append((path, tensor, node))
        return groups

    def add(self, group):
        """One storage: as it is if all see the same of it, else the stretch of it that they see, flat."""
        name = self.unique(_name(group[0][0]))
        first = group[0][1]
        views = {(tensor.stride(), tensor.storage_offset(), tensor.shape) for _, tensor, _ in group}
        if len(views) == 1 and first.is_contiguous():
            self.arrays[name] = self.copied(name, first)
            for _, _, node in group:
                node.append(name)
            return
        begin = min(tensor.storage_offset() for _, tensor, _ in group)
        end = max(_end(tensor) for _, tensor, _ in group)
        self.arrays[name] = self.copied(name, first.as_strided((end - begin,), (1,), begin))
        for _, tensor, node in group:
            node += [name, list(tensor.stride()), tensor.storage_offset() - begin, list(tensor.shape)]

    def copied(self, name, tensor):
        copy = self.spare.get(name)
        if copy is None or (copy.shape, copy.dtype) != (tensor.shape, tensor.dtype):
            copy = torch.empty(tensor.shape, dtype=tensor.dtype)
        return copy.copy_(tensor)

    def unique(self, name):
        while name in self.arrays:
            name += "'"
        return name


class _Unflattening:
    def __init__(self, arrays):
        self.arrays = arrays

    def read(self, node):
        if not isinstance(node, list):
            return node
        kind, *rest = node
        if kind == "float":
            return float.fromhex(rest[0])
        if kind == "bytes":
            return bytes.fromhex(rest[0])
        if kind == "tensor":
            array = self.arrays[rest[0]]
            return array if len(rest) == 1 else array.as_strided(rest[3], rest[1], rest[2])
        if kind == "on":
            return self.read(rest[1]).to(rest[0])
        if kind in LISTS:
            return LISTS[kind](map(self.read, rest))
        return DICTS[kind]({key: self.read(value) for key, value in rest})


def _name(path):
    return ".".join(map(str, path))


def _end(tensor):
    """Behind the last element of the storage that the tensor sees."""
    return tensor.storage_offset() + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) + 1
