"""What a test computed, as the judge reads it."""

import json
import os
import struct
import tempfile
import unittest

from kerf import test_result
from kerf.testing import needs


def written(value):
    """(entries, bytes of the tensors)"""
    with tempfile.TemporaryFile() as file:
        test_result.write(file.fileno(), value, None)
        file.seek(0)
        raw = file.read()
    (length,) = struct.unpack_from("<Q", raw, 8)
    start = 16 + length
    return json.loads(raw[16:start])["entries"], raw[start + -start % 64 :]


@needs("torch")
class TestResultTest(unittest.TestCase):
    def test_lists_nested_values_by_path(self):
        import torch

        value = {"b": [torch.ones(2), 3], "a": (None, "x")}
        entries, raw = written(value)
        names = [(one["name"], one.get("text", one.get("dtype"))) for one in entries]
        self.assertEqual(
            names,
            [
                ("result_gold", "dict of 2"),
                ("result_gold['a']", "list of 2"),
                ("result_gold['a'][0]", "NoneType None"),
                ("result_gold['a'][1]", "str 'x'"),
                ("result_gold['b']", "list of 2"),
                ("result_gold['b'][0]", "float32"),
                ("result_gold['b'][1]", "int 3"),
            ],
        )
        self.assertEqual(raw[:8], struct.pack("<2f", 1, 1))

    def test_tensors_lie_apart_and_as_they_are(self):
        import torch

        value = [torch.arange(6).reshape(2, 3).t(), torch.zeros(0, 4), torch.tensor(2.0, dtype=torch.bfloat16)]
        entries, raw = written(value)
        first, empty, last = entries[1:]
        self.assertEqual((first["dtype"], first["shape"]), ("int64", [3, 2]))
        self.assertEqual(struct.unpack_from("<6q", raw, first["offset"]), (0, 3, 1, 4, 2, 5))
        self.assertEqual(empty["shape"], [0, 4])
        self.assertEqual(last["offset"] % 64, 0)
        self.assertEqual(struct.unpack_from("<H", raw, last["offset"]), (0x4000,))

    def test_a_float_is_a_float32(self):
        entries, raw = written(0.1)
        self.assertEqual((entries[0]["dtype"], entries[0]["shape"]), ("float32", []))
        self.assertEqual(raw[:4], struct.pack("<f", 0.1))

    def test_names_what_it_cannot_hold(self):
        import torch

        entries, _ = written([object(), torch.eye(2).to_sparse()])
        self.assertEqual(entries[1]["text"], "a object")
        self.assertIn("sparse", entries[2]["text"])


if __name__ == "__main__":
    unittest.main()
