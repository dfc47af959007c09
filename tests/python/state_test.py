"""States as named arrays, and checkpoint files."""

import collections
import json
import math
import pathlib
import tempfile
import unittest

import torch

from espalier import safetensors_file, state
from espalier.failure import CheckpointError, TrainerError

try:
    import safetensors.torch
except ImportError:
    safetensors = None

PLAIN = {
    "none": None, "true": True, "large": 2**80, "nan": math.nan, "minus zero": -0.0, "tenth": 0.1, "text": "\u00e9\ud800\0",
    "bytes": b"\0\xff", "list": [1, (2, [3])], 5: "whole number as a key", "counter": collections.Counter([1, 1]),
    "ordered": collections.OrderedDict(b=1, a=2),
}  # fmt: skip
ALL_TYPES = {str(dtype): torch.ones(3).to(dtype) for dtype in state.ARRAY_TYPES}


class StateTest(unittest.TestCase):
    def test_plain_values_come_back_as_they_were(self):
        back = state.unflatten(state.flatten({"plain": PLAIN}))["plain"]
        self.assertEqual(repr(back), repr(PLAIN))

    def test_tensors_come_back_with_type_shape_and_strides(self):
        tensors = {**ALL_TYPES, "scalar": torch.tensor(2.5), "empty": torch.empty(0, 3), "turned": torch.rand(3, 5).t()}
        back = state.unflatten(state.flatten(tensors))
        for name, tensor in tensors.items():
            self.assertEqual((back[name].dtype, back[name].shape, back[name].stride()), (tensor.dtype, tensor.shape, tensor.stride()))
            self.assertTrue(torch.equal(back[name], tensor), name)

    def test_what_shares_storage_is_saved_once_and_shares_it_again(self):
        whole = torch.arange(10.0)
        tree = {"whole": whole, "again": whole, "part": whole[2:6], "other": torch.arange(3)}
        arrays = state.flatten(tree)
        self.assertEqual(sorted(arrays), ["espalier.tree", "other", "whole"])
        back = state.unflatten(arrays)
        back["part"][0] = -1
        self.assertEqual([back["whole"][2], back["again"][2]], [-1, -1])

    def test_a_part_of_a_large_storage_is_saved_alone(self):
        arrays = state.flatten({"part": torch.zeros(1000)[10:12]})
        self.assertEqual(arrays["part"].shape, (2,))

    def test_a_state_is_a_copy(self):
        tensor = torch.zeros(2)
        arrays = state.flatten({"tensor": tensor})
        tensor.fill_(1)
        self.assertEqual(arrays["tensor"].tolist(), [0, 0])

    def test_a_state_is_copied_into_the_memory_of_an_earlier_one_where_its_tensors_have_that_form(self):
        spare = state.flatten({"same": torch.zeros(3), "larger": torch.zeros(3), "other": torch.zeros(3)})
        tree = {"same": torch.ones(3), "larger": torch.ones(4), "other": torch.ones(3, dtype=torch.int64), "new": torch.ones(3)}
        arrays = state.flatten(tree, spare)
        self.assertEqual([name for name in tree if arrays[name].data_ptr() in [each.data_ptr() for each in spare.values()]], ["same"])
        for name, tensor in tree.items():
            self.assertTrue(torch.equal(arrays[name], tensor))
            self.assertEqual(arrays[name].dtype, tensor.dtype)

    def test_names_that_would_be_equal_are_told_apart(self):
        tree = {"a": {"b": torch.tensor(1)}, "a.b": torch.tensor(2), "espalier.tree": torch.tensor(3)}
        self.assertEqual(state.unflatten(state.flatten(tree)), tree)

    def test_what_cannot_be_saved_is_refused_by_its_key(self):
        refused = {"a set": {1}, "a function": print, "complex": torch.zeros(1, dtype=torch.complex64), "a float subclass": _Own(1.0),
                   "sparse": torch.eye(2).to_sparse(), "odd key": {(1, 2): 3}}  # fmt: skip
        for name, value in refused.items():
            with self.subTest(name), self.assertRaisesRegex(TrainerError, r"^tracked\.0\.inner "):
                state.flatten({"tracked": [{"inner": value}]})


class _Own(float):
    pass


class CheckpointFileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "file")
        # Sizes that leave the arrays behind them at odd places.
        self.arrays = {"b": torch.tensor([True, False, True]), "a": torch.rand(2, 3), "é": torch.tensor(7), "none": torch.empty(0, 2)}

    def write(self):
        return safetensors_file.write(self.path, self.arrays, {"planId": "9007199254740993"})

    def assert_equal_arrays(self, arrays):
        self.assertEqual(arrays.keys(), self.arrays.keys())
        for name, array in arrays.items():
            self.assertTrue(torch.equal(array, self.arrays[name]) and array.dtype == self.arrays[name].dtype, name)

    def test_what_was_written_is_read(self):
        sha256, byte_count = self.write()
        self.assertEqual(byte_count, pathlib.Path(self.path).stat().st_size)
        self.assertEqual(sha256, safetensors_file.state_sha256(self.arrays))
        self.assert_equal_arrays(safetensors_file.read(self.path))

    def test_the_head_says_what_the_protocol_says(self):
        sha256, _ = self.write()
        content = pathlib.Path(self.path).read_bytes()
        length = int.from_bytes(content[:8], "little")
        self.assertEqual(length % 8, 0)
        head = json.loads(content[8 : 8 + length])
        self.assertEqual(list(head), ["__metadata__", "a", "b", "none", "é"])
        self.assertEqual(head["b"], {"dtype": "BOOL", "shape": [3], "data_offsets": [24, 27]})
        self.assertEqual(json.loads(head["__metadata__"]["espalier.identity"]), {"planId": "9007199254740993"})
        self.assertEqual(head["__metadata__"]["espalier.state_sha256"], sha256)

    def test_the_digest_of_a_state_is_the_one_that_the_protocol_describes(self):
        import hashlib

        arrays = {"b": torch.tensor([[1, 2]], dtype=torch.int32), "a": torch.tensor(True)}
        described = b"a\0BOOL\0\0\x01" + b"b\0I32\x001,2\0" + bytes([1, 0, 0, 0, 2, 0, 0, 0])
        self.assertEqual(safetensors_file.state_sha256(arrays), hashlib.sha256(described).hexdigest())

    def test_a_byte_that_was_changed_anywhere_is_noticed(self):
        self.write()
        content = pathlib.Path(self.path).read_bytes()
        for at in range(len(content)):
            damaged = bytearray(content)
            damaged[at] ^= 1
            pathlib.Path(self.path).write_bytes(damaged)
            try:
                read = safetensors_file.read(self.path)
            except CheckpointError:
                continue
            self.assert_equal_arrays(read)  # such as a space that became another blank

    def test_a_file_that_is_cut_short_or_too_long_or_not_there_is_refused(self):
        self.write()
        content = pathlib.Path(self.path).read_bytes()
        for changed in [content[:-1], content + b"\0", content[:20], b""]:
            pathlib.Path(self.path).write_bytes(changed)
            with self.assertRaisesRegex(CheckpointError, "cannot read"):
                safetensors_file.read(self.path)
        pathlib.Path(self.path).unlink()
        with self.assertRaisesRegex(CheckpointError, "No such file"):
            safetensors_file.read(self.path)

    def test_a_file_that_cannot_be_written_is_an_error_of_the_checkpoint(self):
        with self.assertRaisesRegex(CheckpointError, "cannot write"):
            safetensors_file.write(self.path + "/no/such/folder", self.arrays, {})

    @unittest.skipIf(safetensors is None, "the package safetensors is not installed")
    def test_the_package_safetensors_reads_what_we_write(self):
        self.arrays.update(ALL_TYPES)
        self.write()
        self.assert_equal_arrays(safetensors.torch.load(pathlib.Path(self.path).read_bytes()))

    @unittest.skipIf(safetensors is None, "the package safetensors is not installed")
    def test_we_read_arrays_in_the_layout_that_the_package_safetensors_writes(self):
        safetensors.torch.save_file({"a": self.arrays["a"]}, self.path, self.metadata_of({"a": self.arrays["a"]}))
        self.assertTrue(torch.equal(safetensors_file.read(self.path)["a"], self.arrays["a"]))

    def metadata_of(self, arrays):
        safetensors_file.write(self.path, arrays, {})
        content = pathlib.Path(self.path).read_bytes()
        return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
