"""The conventions by which Python candidates are called, without a judge on the other side."""

import os
import tempfile
import unittest

from kerf import candidate_call, candidate_entry
from kerf.testing import needs

# The convention only: what SWFT itself does between reading and writing, NumPy does here.
DOUBLES = """
import os
import numpy as np
HERE = os.path.dirname(os.path.abspath(__file__))
def op_swft_numpy(device_id=0):
    assert os.listdir(HERE + "/op/output") == [], "an earlier answer is still there"
    x = np.fromfile(HERE + "/op/input/input0.bin", dtype=np.float32)
    assert not os.path.exists("op/input/input1.bin"), "numbers have no file"
    {write}
"""
WRITE = "(x * 2).tofile('op/output/output0_actual.bin')"


class Wire:
    def __init__(self, shape, dtype="float32"):
        self.shape, self.dtype = shape, dtype
        self.bytes = 4 * shape[0] * shape[1]


class FakeCall:
    def __init__(self, raw):
        self.inputs, self.outputs = [Wire([2, 3]), Wire([1, 1])], [Wire([2, 3])]
        self.bytes = raw

    def raw(self, _):
        return self.bytes


@needs("numpy")
class SwftEntryTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.path = os.path.join(folder.name, "op_swft.py")

    def entry(self, source):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(source)
        candidate = {"impl": "swft", "path": self.path, "op_name": "op", "functions": ["op_swft_numpy"],
                     "inputs": [{"kind": "tensor"}, {"kind": "int", "value": 3}], "init": []}
        entry = candidate_entry.SwftEntry(candidate, candidate_call.NumpySide())
        entry.load()
        return entry

    def call(self, entry, value):
        import numpy
        return entry(FakeCall(numpy.full((2, 3), value, "float32").tobytes()), [])()

    def test_passes_tensors_through_files(self):
        entry = self.entry(DOUBLES.format(write=WRITE))
        for value in (1.5, 4):
            result, = self.call(entry, value)
            self.assertEqual(result.tolist(), [[2 * value] * 3] * 2)

    def test_says_which_file_was_not_written(self):
        with self.assertRaisesRegex(FileNotFoundError, "it did not write op/output/output0_actual.bin"):
            self.call(self.entry(DOUBLES.format(write="pass")), 1)

    def test_a_file_of_another_length_is_no_answer(self):
        result, = self.call(self.entry(DOUBLES.format(write=WRITE.replace("x * 2", "x[:4]"))), 1)
        self.assertEqual(list(result.shape), [16])

    def test_names_the_function_it_looks_for(self):
        with self.assertRaisesRegex(LookupError, "the module defines no function op_swft_numpy"):
            self.entry("x = 1")


if __name__ == "__main__":
    unittest.main()
