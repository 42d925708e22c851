"""From MindSpore's exported graph to kerf's, without MindSpore: a recorded export, and small ones made here."""

import os
import types
import unittest

from kerf import mindir
from kerf.graph_build import GraphBuilder, Refused
from kerf.graph_testing import compute, ops
from kerf.testing import needs

RECORDED = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                        "test/data/mindir/dense_norm_split.json")
FLOATS = mindir.Spec("float32", [2, 8])


def built(export, lines=None):
    """The document of an export; inputs and parameters in their order."""
    from kerf import graph_mindspore_math, graph_mindspore_nn, graph_mindspore_reduce, graph_mindspore_shape  # noqa: F401
    from kerf import graph_simplify
    from kerf.graph_mindspore_build import Builder
    graph = GraphBuilder()
    builder = Builder(graph, export, lines or {})
    for index, (name, spec) in enumerate(export.inputs):
        builder.bind(name, graph.input(name, spec.dtype, spec.shape, {"source": "inputs", "index": index}))
    for index, (name, own, spec) in enumerate(export.parameters):
        entry = {"source": "params", "index": index, "name": own}
        builder.bind(name, graph.input(own, spec.dtype, spec.shape, entry))
    builder.run()
    graph_simplify.simplify(graph)
    return graph.document(framework="mindspore", framework_version="2.10.0", capture="mindspore.mindir", specialised=[])


def one_node(op, inputs=("x",), result=FLOATS, attributes=None, constants=None):
    node = mindir.Node("y", op, list(inputs), attributes or {}, result, "Default/op0")
    return mindir.Export([("x", FLOATS)], [], constants or {}, [node], ["y"])


@needs("numpy")
class Recorded(unittest.TestCase):
    def setUp(self):
        with open(RECORDED, encoding="utf-8") as file:
            self.text = file.read()

    def test_is_written_as_it_was_read(self):
        self.assertEqual(mindir.dump(mindir.load(self.text)), self.text)

    def test_operations(self):
        document = built(mindir.load(self.text))
        self.assertEqual(ops(document), [
            "permute.default", "mm.default", "add.Tensor", "native_layer_norm.default", "mul.Tensor", "add.Tensor",
            "_softmax.default", "slice.Tensor", "slice.Tensor", "flip.default", "maximum.default"])
        self.assertEqual([entry["source"] for entry in document["inputs"]], ["inputs"] + ["params"] * 4 + ["constant"])

    @needs("torch")
    def test_values(self):
        import torch
        torch.manual_seed(3)
        x, weight, bias, gamma, beta = [torch.randn(*shape) for shape in ((2, 8), (3, 8), (3,), (3,), (3,))]
        first, second = compute(built(mindir.load(self.text)), [x], [weight, bias, gamma, beta])
        normal = torch.nn.functional.layer_norm(x @ weight.T + bias, (3,), gamma, beta, 1e-7)
        torch.testing.assert_close(first, torch.softmax(normal * 2.5 + torch.tensor([1.0, 2.0, 3.0]), -1))
        torch.testing.assert_close(second, torch.maximum(x[:, :4], x[:, 4:].flip(1)))


@needs("numpy")
class Refusals(unittest.TestCase):
    def refusal(self, export):
        with self.assertRaises(Refused) as caught:
            built(export, {"Default/op0": (7, "return ops.something(x)")})
        return caught.exception

    def test_names_the_operation_and_the_line(self):
        error = self.refusal(one_node("FastGeLU"))
        self.assertEqual((error.what, error.line, error.text), ("an operation", 7, "return ops.something(x)"))
        self.assertIn("FastGeLU", error.detail)

    def test_control_flow(self):
        for op in ("Switch", "Partial", "call 3_construct"):
            self.assertEqual(self.refusal(one_node(op)).what, "data-dependent control flow")

    def test_random_numbers(self):
        self.assertEqual(self.refusal(one_node("StandardNormal")).what, "random numbers")

    def test_updates_of_an_input(self):
        for op in ("InplaceAddExt", "InplaceCopy"):
            self.assertEqual(self.refusal(one_node(op, ("x", "x"))).what, "an update in place")

    def test_updates_of_what_others_use(self):
        """y = x * x; y.add_(x); y again."""
        made, update, later = [mindir.Node(name, op, inputs, {}, FLOATS, "Default/op0") for name, op, inputs in (
            ("y", "Mul", ["x", "x"]), ("z", "InplaceAddExt", ["y", "x"]), ("w", "Mul", ["y", "y"]))]
        export = mindir.Export([("x", FLOATS)], [], {}, [made, update, later], ["w"])
        self.assertEqual(self.refusal(export).what, "an update in place")
        export.nodes, export.outputs = [made, update], ["z"]
        self.assertEqual(ops(built(export)), ["mul.Tensor", "add.Tensor"])

    def test_shapes_that_depend_on_data(self):
        error = self.refusal(one_node("MaskedSelect", result=mindir.Spec("float32", [-1])))
        self.assertEqual(error.what, "a shape that depends on data")

    def test_another_shape_than_mindspore_inferred(self):
        error = self.refusal(one_node("ReLU", result=mindir.Spec("float32", [2, 9])))
        self.assertIn("float32[2, 9]", error.detail)

    def test_a_rule_called_otherwise(self):
        self.assertIn("as it is called here", self.refusal(one_node("ReLU", ("x", "x"))).detail)

    def test_statistics_nobody_captures(self):
        export = one_node("BatchNorm", ("x", "x", "x", "x", "x", "training"), [FLOATS] * 5, constants={"training": True})
        self.assertEqual(self.refusal(export).what, "batch statistics")


@needs("numpy")
class Constants(unittest.TestCase):
    def test_a_tensor_of_one_number_is_a_number(self):
        two = mindir.Data("float32", [], b"\x00\x00\x00\x40")
        node = built(one_node("Mul", ("x", "two"), constants={"two": two}))["nodes"][0]
        self.assertEqual(node["args"]["other"], 2.0)

    def test_half_types(self):
        from kerf.graph_mindspore_build import numbers_in
        self.assertEqual(numbers_in(mindir.Data("bfloat16", [2], b"\x80\x3f\x20\xc0")), [1.0, -2.5])
        self.assertEqual(numbers_in(mindir.Data("float16", [1], b"\x00\x3c")), [1.0])

    def test_equal_elements_are_a_fill(self):
        ones = mindir.Data("float32", [2, 8], b"\x00\x00\x80\x3f" * 16)
        document = built(one_node("Add", ("x", "ones"), constants={"ones": ones}))
        self.assertEqual(ops(document), ["full.default", "add.Tensor"])

    def test_promotion(self):
        from kerf.graph_mindspore_build import common_type
        for types_, expected in ((["int64", "float16"], "float16"), (["float16", "bfloat16"], "float32"), (["bool", "int8"], "int8"),
                                 (["uint8", "int8"], "int16"), (["float32", "float64"], "float64")):
            self.assertEqual(common_type(types_), expected)


class ProtocolBuffers(unittest.TestCase):
    """What read() asks of a message, with plain objects in its place."""

    @staticmethod
    def attribute(kind, **members):
        empty = dict.fromkeys(("ints", "floats", "doubles", "strings", "tensors", "values"), ())
        return types.SimpleNamespace(**{**empty, "name": "value", "type": kind, "i": 0, "f": 0.0, "d": 0.0, "s": b"", **members})

    def test_values(self):
        five = self.attribute(mindir.TUPLE, values=[self.attribute(7, ints=[1, -1]), self.attribute(mindir.FLOAT, f=0.5),
                                                    self.attribute(mindir.TUPLE, values=[self.attribute(mindir.BOOL, i=1)])])
        self.assertEqual(mindir.value_of(five), [1, -1, 0.5, [True]])
        self.assertEqual(mindir.value_of(self.attribute(mindir.STRING, s=b"same")), "same")
        self.assertIsNone(mindir.value_of(self.attribute(mindir.NONE)))
        self.assertIsInstance(mindir.value_of(self.attribute(mindir.UMONAD)), mindir.Monad)
        self.assertEqual(mindir.value_of(self.attribute(mindir.TUPLE)), [])

    def test_what_it_does_not_know(self):
        with self.assertRaises(mindir.Unreadable):
            mindir.value_of(self.attribute(38))
        self.assertIsNone(mindir.value_of(self.attribute(38), lenient=True))


if __name__ == "__main__":
    unittest.main()
