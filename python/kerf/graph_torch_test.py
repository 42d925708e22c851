"""Capture of torch tasks: the normal form, what is refused, and that the graph computes what the model does."""

import os
import unittest

from kerf.graph_testing import GraphTest, compute_task, ops
from kerf.testing import needs

MODEL = """
class Model(nn.Module):
    def forward(self, x):
        return {}
"""


@needs("torch")
class NormalForm(GraphTest):
    def check(self, text):
        """The graph, after computing it on another draw."""
        import torch
        document = self.graph(text)
        for expected, got in compute_task(document, os.path.join(self.folder, "op_torch.py"), "torch"):
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
        return document

    def one(self, expression):
        return self.check(MODEL.format(expression))

    def test_names_the_line(self):
        document = self.one("torch.relu(x)")
        node = document["nodes"][0]
        self.assertEqual((node["op"], node["text"]), ("aten.relu.default", "return torch.relu(x)"))
        self.assertEqual(node["line"], 6)

    def test_views_are_one_operation(self):
        self.assertEqual(ops(self.one("x.unsqueeze(0).flatten().reshape(8, 4).clone()")), ["view.default"])

    def test_what_changes_nothing_is_nothing(self):
        self.assertEqual(ops(self.one("x.contiguous().float()[:, 0:99].permute(0, 1).expand(4, 8)")), [])

    def test_updates_in_place_are_gone(self):
        document = self.check("""
class Model(nn.Module):
    def forward(self, x):
        y = x * 2
        y[:, 1] = 0
        y.t().add_(1)
        return y
""")
        self.assertNotIn("copy_", " ".join(ops(document)))

    def test_an_input_changed_in_place_is_read_only(self):
        self.check("""
class Model(nn.Module):
    def forward(self, x):
        y = x.clone()
        y += 1
        return y * 2
""")

    def test_a_mask_as_an_index_is_a_choice(self):
        document = self.check("""
class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        y[y > 1] = 0
        return y
""")
        self.assertIn("where.self", ops(document))

    def test_casts_are_explicit(self):
        document = self.one("x.double() + x")
        self.assertEqual(ops(document), ["_to_copy.default", "add.Tensor"])  # both operands are the same cast
        self.assertEqual(ops(self.one("(x > 0).sum()")), ["gt.Scalar", "_to_copy.default", "sum.dim_IntList"])

    def test_reductions_list_their_dimensions(self):
        node = self.one("x.sum()")["nodes"][0]
        self.assertEqual((node["op"], node["args"]["dim"]), ("aten.sum.dim_IntList", [0, 1]))
        node = self.one("x.amax(dim=-1)")["nodes"][0]
        self.assertEqual(node["args"]["dim"], [1])
        self.assertEqual(ops(self.one("x.max(dim=1).values")), ["amax.default"])
        self.assertEqual(ops(self.one("x.max(dim=1)[1]")), ["max.dim"])

    def test_parameters_come_in_the_order_of_the_state(self):
        document = self.check("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        self.b.weight = self.a.weight
        self.scale = torch.full((8,), 3.0)
    def forward(self, x):
        return self.b(self.a(x)) * self.scale
""")
        names = [entry["name"] for entry in document["inputs"] if entry["source"] == "params"]
        self.assertEqual(names, ["a.weight", "a.bias", "b.weight", "b.bias", "scale"])

    def test_small_constants_are_data_and_fills_are_fills(self):
        document = self.one("x + torch.arange(8) * torch.ones(8)")
        self.assertEqual([entry["source"] for entry in document["inputs"]], ["inputs", "constant"])
        document = self.one("torch.where(x > 0, x, torch.tensor(-1.0))")
        self.assertIn("full.default", ops(document))
        self.assertEqual([entry["source"] for entry in document["inputs"]], ["inputs"])

    def test_attention_is_two_products(self):
        document = self.check("""
class Model(nn.Module):
    def forward(self, q, k):
        return torch.nn.functional.scaled_dot_product_attention(q, k, k, is_causal=True)
def get_inputs():
    return [torch.randn(2, 3, 5, 8), torch.randn(2, 3, 5, 8)]
""")
        names = ops(document)
        self.assertEqual(names.count("bmm.default"), 2)
        self.assertLess(names.index("bmm.default"), names.index("_softmax.default"))

    def test_norms(self):
        self.assertEqual(ops(self.one("nn.functional.layer_norm(x, (8,))")), ["native_layer_norm.default"])
        document = self.check("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.InstanceNorm2d(3, affine=True), nn.BatchNorm2d(3)
    def forward(self, x):
        return self.b(self.a(x))
def get_inputs():
    return [torch.randn(2, 3, 4, 4)]
""")
        self.assertIn("native_group_norm.default", ops(document))
        self.assertIn("_native_batch_norm_legit_no_training.default", ops(document))

    def test_moves_that_cancel_are_gone(self):
        self.assertEqual(ops(self.one("x.t().t()")), [])
        self.assertEqual(ops(self.one("x[None].permute(1, 0, 2)")), ["view.default"])
        self.assertEqual(ops(self.one("torch.bmm(x[None], x.t()[None])")), ["permute.default", "mm.default", "view.default"])

    def test_what_is_computed_twice_is_computed_once(self):
        self.assertEqual(ops(self.one("torch.exp(x) * torch.exp(x)")), ["exp.default", "mul.Tensor"])

    def test_a_vector_is_a_matrix(self):
        self.assertIn("mm.default", ops(self.one("x @ x[0]")))
        self.assertIn("mm.default", ops(self.one("x[0] @ x[1]")))

    def test_recurrent_cells_and_encoders_are_taken_apart(self):
        document = self.check("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(8, 4, batch_first=True)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    def forward(self, x):
        return self.cell(self.layer(x))[0]
def get_inputs():
    return [torch.randn(2, 3, 8)]
""")
        self.assertNotIn("lstm", " ".join(ops(document)))

    def test_interpolation_is_indexing(self):
        text = "nn.functional.interpolate(x[None, None], scale_factor=2, mode='{}')"
        for mode in ("nearest", "bilinear"):
            self.assertIn("index.Tensor", ops(self.one(text.format(mode))), mode)

    def test_a_dynamic_task_has_a_graph_for_each_variant(self):
        documents = self.capture(MODEL.format("x * 2") + """
def get_inputs_dyn_list():
    return [[torch.randn(2, 8)], [torch.randn(3, 8)]]
""")
        self.assertEqual([document["values"][0]["shape"] for document in documents], [[2, 8], [3, 8]])


@needs("torch")
class Numbers(GraphTest):
    TEXT = """
class Model(nn.Module):
    def forward(self, x, n):
        return {}
def get_inputs():
    return [torch.randn(4, 8), {}]
"""

    def test_a_float_is_an_input(self):
        document = self.graph(self.TEXT.format("x * n", "3.5"))
        self.assertEqual([entry["index"] for entry in document["inputs"]], [0, 1])
        self.assertEqual(document["values"][1], {"name": "input1", "dtype": "float64", "shape": []})
        self.assertEqual(document["specialised"], [])
        for expected, got in compute_task(document, os.path.join(self.folder, "op_torch.py"), "torch"):
            self.assertTrue((expected == got).all())

    def test_an_int_that_is_a_dimension_is_specialised(self):
        document = self.graph(self.TEXT.format("x.sum(n)", "1"))
        self.assertEqual(document["specialised"], [{"index": 1, "value": 1}])

    def test_an_int_that_changes_and_decides_is_refused(self):
        refusal = self.refusal(self.TEXT.format("x.sum(n)", "int(torch.randint(0, 1 << 40, ()))"))
        self.assertEqual(refusal["what"], "a value read from a tensor")


@needs("torch")
class Refusals(GraphTest):
    def what(self, body):
        text = "class Model(nn.Module):\n    def forward(self, x):\n" + "".join(
            f"        {line}\n" for line in body.split("\n"))
        return self.refusal(text)

    def test_a_branch_on_data(self):
        refusal = self.what("if x.sum() > 0:\n    return x\nreturn x * 2")
        self.assertEqual((refusal["what"], refusal["line"], refusal["text"]),
                         ("data-dependent control flow", 5, "if x.sum() > 0:"))

    def test_random_numbers(self):
        self.assertEqual(self.what("return x + torch.rand(8)")["what"], "random numbers")
        self.assertEqual(self.what("return nn.functional.dropout(x, 0.5, training=True)")["what"], "random numbers")

    def test_a_value_read(self):
        self.assertEqual(self.what("return x * float(x[0, 0])")["what"], "a value read from a tensor")

    def test_a_shape_that_depends_on_data(self):
        self.assertEqual(self.what("return x[x > 0]")["what"], "a shape that depends on data")
        self.assertEqual(self.what("return torch.nonzero(x)")["what"], "a shape that depends on data")

    def test_a_large_constant(self):
        refusal = self.refusal("LARGE = torch.arange(1 << 19).float()\n" + MODEL.format("x.sum() * LARGE"))
        self.assertEqual(refusal["what"], "a large constant")

    def test_a_constant_drawn_at_random(self):
        refusal = self.refusal("""
import random
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = random.random()
    def forward(self, x):
        return x * self.scale
""")
        self.assertEqual(refusal["what"], "a graph that changes")

    def test_complex_numbers(self):
        self.assertEqual(self.what("return torch.fft.fft(x).real")["what"], "an element type")


if __name__ == "__main__":
    unittest.main()
