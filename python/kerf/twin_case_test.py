import os
import random
import struct
import unittest

from kerf import twin_case
from kerf.testing import TaskTest, needs

SILU = """
class Model:
    def __call__(self, x):
        return x / (1 + np.exp(-x))
def get_inputs():
    return [np.random.randn(6, 7).astype(np.float32)]
"""


def values(dtype, shape, numbers):
    return twin_case.Values(dtype, shape, b"".join(struct.pack(twin_case.FORMATS[dtype], n) for n in numbers))


class HasOrder(unittest.TestCase):
    def test_sees_rows_that_rise_or_fall(self):
        self.assertTrue(twin_case.has_order(values("float32", [2, 3], [1, 2, 3, 0, 0, 5])))
        self.assertTrue(twin_case.has_order(values("float32", [6], [6, 5, 4, 3, 2, 1])))
        self.assertFalse(twin_case.has_order(values("float32", [2, 3], [1, 2, 3, 5, 0, 0])))

    def test_sees_symmetric_matrices(self):
        self.assertTrue(twin_case.has_order(values("float64", [3, 3], [1, 5, 2, 5, 0, 4, 2, 4, 1])))
        self.assertFalse(twin_case.has_order(values("float64", [3, 3], [1, 5, 2, 3, 0, 4, 2, 4, 1])))


class ChangeOne(unittest.TestCase):
    def test_leaves_the_first_and_last_quarter(self):
        for seed in range(50):
            numbers = values("float32", [16], range(16))
            self.assertTrue(twin_case.change_one(numbers, random.Random(seed)))
            changed = [i for i in range(16) if numbers[i] != i]
            self.assertEqual(len(changed), 1)
            self.assertIn(changed[0], range(4, 12))

    def test_brings_no_tie_where_values_do_not_repeat(self):
        rng = random.Random(1)
        for dtype in ("float32", "float64"):
            for seed in range(50):
                numbers = values(dtype, [16], [rng.gauss(0, 1) for _ in range(16)])
                before = [numbers[i] for i in range(16)]
                self.assertTrue(twin_case.change_one(numbers, random.Random(seed)))
                after = [numbers[i] for i in range(16)]
                self.assertEqual(len(set(after)), 16)
                self.assertEqual(len(set(after) - set(before)), 1)
                self.assertTrue(min(before) <= min(after) and max(after) <= max(before))

    def test_takes_a_value_that_is_there_where_few_or_integers_are(self):
        for numbers in ([0.0, 0.25] * 8, [float(i) for i in range(16)]):
            for seed in range(50):
                changed = values("float32", [16], numbers)
                self.assertTrue(twin_case.change_one(changed, random.Random(seed)))
                self.assertLessEqual({changed[i] for i in range(16)}, set(numbers))

    def test_reads_and_writes_bfloat16(self):
        elements = (1, 2.5, -3, 4, 5.5, 6, 7, 8)
        numbers = twin_case.Values("bfloat16", [8], b"".join(struct.pack("<f", n)[2:] for n in elements))
        self.assertTrue(twin_case.change_one(numbers, random.Random(3)))
        self.assertEqual(len({numbers[i] for i in range(8)}), 8)

    def test_leaves_what_is_not_finite_alone(self):
        for seed in range(50):
            numbers = values("float32", [16], [float("inf"), float("nan"), 1.5, 2.5] + [float(i) for i in range(12)])
            self.assertTrue(twin_case.change_one(numbers, random.Random(seed)))
            self.assertEqual(numbers[0], float("inf"))
            self.assertNotEqual(numbers[1], numbers[1])
            self.assertTrue(all(abs(numbers[i]) < 12 for i in range(2, 16)))

    def test_cannot_change_a_constant(self):
        self.assertFalse(twin_case.change_one(values("float32", [16], [1] * 16), random.Random(0)))


@needs("numpy")
class Twins(TaskTest):
    def read(self, entry, key, kind):
        with open(os.path.join(self.out, entry[key]), "rb") as file:
            data = file.read()
        tensor = entry[kind][0]
        return data[tensor["offset"] : tensor["offset"] + 4 * 42]

    def test_follows_the_first_case_and_differs_in_one_element(self):
        manifest = self.manifest(SILU, seeds=[3, 4], twin=True)
        self.assertEqual([case.get("twin_of") for case in manifest["cases"]], [None, 0, None])
        first, twin = manifest["cases"][:2]
        for key, kind in (("input_file", "inputs"), ("output_file", "outputs")):
            a, b = self.read(first, key, kind), self.read(twin, key, kind)
            self.assertEqual(sum(a[i : i + 4] != b[i : i + 4] for i in range(0, len(a), 4)), 1)

    def test_is_left_out_where_no_input_is_a_float(self):
        source = SILU.replace("np.random.randn(6, 7).astype(np.float32)", "np.arange(42)[::-1] * np.arange(42)")
        self.assertEqual(len(self.manifest(source, seeds=[3], twin=True)["cases"]), 1)


if __name__ == "__main__":
    unittest.main()
