import unittest

from kerf import values


class Tensor:
    """Stands for a framework's: only the framework below knows it."""

    def __init__(self, name):
        self.name = name


class Framework:
    def is_tensor(self, value):
        return isinstance(value, Tensor)

    def scalar(self, value):
        return Tensor(f"scalar {value!r}")


FRAMEWORK = Framework()


class CallTest(unittest.TestCase):
    def test_takes_apart_only_what_holds_a_tensor(self):
        call = values.Call.of(FRAMEWORK, [Tensor("a"), [1, 2], [Tensor("b"), {"k": Tensor("c"), "n": 3}], None])
        names = [name for name, _ in call.leaves(FRAMEWORK)]
        self.assertEqual(names, ["input0", "input1", "input2.0", "input2.1.k", "input2.1.n", "input3"])

    def test_puts_together_what_it_took_apart(self):
        inner = (Tensor("a"), [Tensor("b"), 7])
        call = values.Call.of(FRAMEWORK, [inner, 5])
        again = call.with_leaves(FRAMEWORK, [value for _, value in call.leaves(FRAMEWORK)])
        self.assertEqual(again.args, (inner, 5))
        self.assertIsInstance(again.args[0], tuple)

    def test_understands_dictionaries_and_single_values(self):
        self.assertEqual(values.Call.of(FRAMEWORK, {"x": 1}).kwargs, {"x": 1})
        tensor = Tensor("a")
        self.assertEqual(values.Call.of(FRAMEWORK, tensor).args, (tensor,))


class OutputsTest(unittest.TestCase):
    def names(self, result):
        return [name for name, _ in values.outputs_of(FRAMEWORK, result)[0]]

    def test_names_every_form(self):
        self.assertEqual(self.names(Tensor("a")), ["output0"])
        self.assertEqual(self.names((Tensor("a"), [Tensor("b"), 2.5])), ["output0", "output1.0", "output1.1"])
        self.assertEqual(self.names({"y": Tensor("a"), "z": (True, 1)}), ["y", "z.0", "z.1"])

    def test_leaves_out_none_and_says_so(self):
        found, notes = values.outputs_of(FRAMEWORK, (Tensor("a"), None))
        self.assertEqual(len(found), 1)
        self.assertEqual(notes, ["output1 is None and left out"])

    def test_refuses_what_cannot_be_compared(self):
        for result in (None, [], "text", object()):
            with self.assertRaises((ValueError, TypeError)):
                values.outputs_of(FRAMEWORK, result)


class DescribeTest(unittest.TestCase):
    def test_tells_the_kinds_apart(self):
        cases = [(None, "none"), (True, "bool"), (3, "int"), (2.5, "float"), ("s", "string"), ([1, 2], "ints"),
                 ((), "ints"), ([1, 2.5], "floats"), ([True], "other"), (2**70, "other"), ({"a": 1}, "other"),
                 (1j, "other")]
        for value, kind in cases:
            self.assertEqual(values.describe("x", value)["kind"], kind, value)

    def test_writes_numbers_that_json_lacks_as_words(self):
        self.assertEqual(values.describe("x", float("nan"))["value"], "nan")
        self.assertEqual(values.describe("x", [1.0, float("-inf")])["value"], [1.0, "-inf"])

    def test_restores_what_it_described(self):
        for value in (True, 3, 2.5, "s", [1, 2], (1, 2), [0.5, float("inf")], None, {"a": 1}):
            self.assertEqual(values.restore(values.describe("x", value), value), value)

    def test_survives_a_repr_that_raises(self):
        class Bad:
            def __repr__(self):
                raise RuntimeError("no")
        self.assertIn("RuntimeError", values.describe("x", Bad())["value"])


if __name__ == "__main__":
    unittest.main()
