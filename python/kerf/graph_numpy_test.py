"""Capture of numpy tasks: each graph is computed with torch and compared with numpy on another draw."""

import os
import unittest

from kerf.graph_testing import GraphTest, compute_task, ops
from kerf.testing import needs

MODEL = """
class Model:
    def __init__(self):
        self.w = np.random.randn(8, 8).astype(np.float32)
    def forward(self, x):
        return {}
"""
BODY = """
class Model:
    def forward(self, x):
{}
"""


class NumpyTest(GraphTest):
    def check(self, text):
        """The graph, after computing it on another draw."""
        import torch
        document = self.graph(text, "numpy")
        for expected, got in compute_task(document, os.path.join(self.folder, "op_numpy.py"), "numpy"):
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
        return document

    def one(self, expression):
        return self.check(MODEL.format(expression))

    def body(self, text):
        return self.check(BODY.format("".join(f"        {line}\n" for line in text.split("\n"))))

    def all(self, *expressions):
        """Several expressions in one task: a process each would take long."""
        return self.one("(" + ", ".join(expressions) + ",)")


@needs("torch")
class Operations(NumpyTest):
    def test_names_the_line(self):
        node = self.one("np.maximum(x, 0)")["nodes"][-1]
        self.assertEqual((node["op"], node["text"]), ("aten.maximum.default", "return np.maximum(x, 0)"))

    def test_pointwise(self):
        self.all("x + 1", "2 - x", "x * x", "1 / (x * x + 1)", "x ** 2", "2.0 ** x", "x // 0.5", "x % 0.7", "-x", "abs(x)",
                 "np.exp(x)", "np.log(np.abs(x) + 1)", "np.sqrt(x * x)", "np.tanh(x)", "np.sign(x)", "np.floor(x)", "np.rint(x)",
                 "np.arctan2(x, x + 1)", "np.logaddexp(x, 1)", "np.hypot(x, 2)", "np.fmax(x, 0)", "np.clip(x, -1, 1)",
                 "x.clip(0, None)", "np.where(x > 0, x, 0.1 * x)", "np.exp2(x)", "np.log1p(x * x)", "np.square(x)",
                 "np.reciprocal(x + 10)", "np.isnan(x)", "np.isfinite(x)", "np.nan_to_num(x)", "np.round(x, 2)")

    def test_types(self):
        document = self.all("x.astype(np.float64) + x", "(x > 0) & (x < 1)", "~(x > 0)", "np.sum(x > 0)",
                            "(x * 3).astype(np.int32) // 2", "np.mean((x * 3).astype(np.int32))", "x.astype('float16') * 2",
                            "np.logical_or(x > 1, x < 0)", "x + np.float64(2.5)", "np.sum(x, dtype=np.float64)",
                            "np.true_divide((x * 9).astype(np.int64), 4)", "x.astype(bool)")
        self.assertEqual(document["values"][document["outputs"][0]]["dtype"], "float64")

    def test_reductions(self):
        self.all("x.sum()", "x.sum(axis=1, keepdims=True)", "np.mean(x, axis=(0, 1))", "x.max(axis=-1)", "np.min(x)",
                 "np.prod(x, axis=0)", "np.var(x, axis=1, ddof=1)", "x.std()", "np.argmax(x, axis=1)", "x.argmin()",
                 "np.any(x > 2, axis=0)", "np.all(x)", "np.cumsum(x, axis=1)", "np.cumprod(x, 0)", "np.linalg.norm(x)",
                 "np.linalg.norm(x, axis=1, keepdims=True)", "np.linalg.norm(x, 1, axis=0)", "np.ptp(x, axis=1)",
                 "np.count_nonzero(x > 0)", "np.add.reduce(x, axis=1)", "np.maximum.reduce(x)", "np.add.accumulate(x)",
                 "np.prod(x, axis=(0, 1))", "np.diff(x, axis=1)", "np.trace(x[:, :4])")

    def test_products(self):
        document = self.all("x @ self.w", "np.dot(x, self.w.T)", "x @ self.w[0]", "x[0] @ self.w", "np.matmul(x[0], x[1])",
                            "np.outer(x[0], x[1])", "np.einsum('ij,jk->ik', x, self.w)", "np.einsum('ij,ij->i', x, x)",
                            "np.einsum('ij->j', x)", "np.einsum('ii->i', self.w)", "np.einsum('i,j,k->ijk', x[0], x[1], x[2])",
                            "np.einsum('bij,bjk->bik', x.reshape(2, 2, 8), x.reshape(2, 8, 2))", "np.tensordot(x, self.w, 1)",
                            "np.tensordot(x, self.w, ([1], [1]))", "np.einsum('...i,ij->...j', x.reshape(2, 2, 8), self.w)",
                            "np.inner(x, self.w)", "x.reshape(2, 2, 8) @ self.w", "x.reshape(2, 1, 2, 8) @ self.w.reshape(8, 8)",
                            "np.einsum('ij,kj,k->i', x, self.w, x[0])", "np.vdot(x[0], x[1])")
        self.assertIn("mm.default", ops(document))

    def test_shapes(self):
        self.all("x.reshape(8, 4).T", "x[:, None, 1:3]", "x[::-1, ::2]", "x[..., -1]", "x[1]", "x[-1, 2]", "np.transpose(x)",
                 "x.swapaxes(0, 1)", "np.expand_dims(x, 1)", "x.reshape(4, 1, 8).squeeze()", "np.concatenate([x, x * 2], axis=1)",
                 "np.stack([x, x], -1)", "np.split(x, 2, axis=1)[1]", "np.flip(x, 1)", "np.roll(x, 3, axis=1)", "np.roll(x, 2)",
                 "np.tile(x, (2, 1))", "np.repeat(x, 2, axis=1)", "np.pad(x, ((1, 2), (0, 1)))", "np.pad(x, 1, mode='reflect')",
                 "np.pad(x, 1, mode='edge')", "np.broadcast_to(x[0], (3, 8))", "np.moveaxis(x.reshape(2, 2, 8), 2, 0)",
                 "np.vstack([x, x])", "np.hstack([x, x])", "x[::-2]", "x[3:0:-1]", "np.ravel(x)", "x.flatten()", "np.vstack((x[0], x[1]))",
                 "np.array([x, x])", "np.asarray(x, dtype=np.float64)", "x[:, 8:2]")

    def test_choosing(self):
        self.all("x[:, [2, 0, -1]]", "x[[0, 1], [2, 3]]", "np.take(x, [1, 2], axis=1)", "np.sort(x, axis=1)",
                 "np.argsort(x, axis=-1)", "np.take_along_axis(x, np.argsort(x, axis=1), axis=1)", "np.tril(x)", "np.triu(x, 1)",
                 "np.diag(x[0])", "x.diagonal()", "x[np.arange(4), np.argmax(x, axis=1)]")

    def test_library_shapes(self):
        self.all("np.column_stack([x[0], x[1]])", "np.dstack([x, x])", "np.append(x, x[:1], axis=0)", "np.delete(x, [1, 3], axis=1)",
                 "np.insert(x, 2, x[:, 0], axis=1)", "np.rot90(x)", "np.rot90(x, 3)", "np.meshgrid(x[0], x[1])[1]", "np.fliplr(x)", "np.flipud(x)",
                 "np.lib.stride_tricks.sliding_window_view(x, 3, axis=1)", "np.pad(x, 1, constant_values=((1, 2), (3, 4)))",
                 "np.diff(x, prepend=0)", "np.kron(x[:2, :2], x[2:, :3])", "x[0, [1, 3]]", "x[[1, 2], None]", "x.view() + 1")

    def test_library_choosing(self):
        self.all("np.select([x < 0, x > 1], [x, x * x], default=0.5)", "np.piecewise(x, [x < 0], [-1, lambda v: v * 2])",
                 "np.isclose(x, x + 1e-9)", "np.take(x, [9, -3], axis=1, mode='clip')", "np.take(x, [9, 17], axis=1, mode='wrap')",
                 "np.searchsorted(np.sort(x[0]), x, side='right')", "np.digitize(x, np.array([-1.0, 0.0, 1.0]))",
                 "np.interp(x, np.arange(4.0) - 1, np.array([0.0, 2.0, 1.0, 5.0]))", "np.histogram(x, 5, (-2, 2))[0]", "np.allclose(x, x)",
                 "np.isin((x * 3).astype(np.int64), [1, -2])", "np.atleast_3d(x)", "np.atleast_2d(x[0])", "np.resize(x, (3, 15))")

    def test_library_sums(self):
        self.all("np.average(x, axis=1, weights=x[0] * x[0] + 1)", "np.nansum(np.log(x), axis=1)", "np.nanmean(np.log(x))",
                 "np.nanmax(np.log(x), axis=0)", "np.nanstd(np.log(x), axis=1)", "np.percentile(x, 30, axis=1)", "np.median(x)",
                 "np.median(x, axis=0)", "np.quantile(x, [0.1, 0.9])", "np.maximum.accumulate(x, axis=1)", "np.minimum.accumulate(x)",
                 "np.add.reduceat(x, [0, 2, 1], axis=0)", "np.sum(x, axis=1, where=x > 0)", "np.max(x, axis=0, initial=0.5)", "np.gradient(x)[1]",
                 "np.trapezoid(x, axis=1)", "np.nancumsum(np.log(x), axis=1)", "np.linalg.norm(x, 1)", "np.linalg.norm(x, -np.inf)",
                 "np.linalg.norm(x.reshape(2, 2, 8), np.inf, axis=(1, 2))", "np.cov(x)", "np.corrcoef(x)", "x.std(1)", "np.apply_along_axis(lambda row: row / row.sum(), 1, x)")

    def test_library_numbers(self):
        self.all("np.heaviside(x, 0.5)", "np.copysign(2.0, x)", "np.cbrt(x)", "(x * 9).astype(np.int32) << 2", "(x * 9).astype(np.int64) >> 1",
                 "np.sinc(x)", "np.fix(x * 3)", "np.modf(x)[0]", "np.divmod(x, 0.7)[1]", "np.polyval([1.0, -2.0, 0.5], x)", "np.signbit(x)", "np.logaddexp2(x, 1.5)",
                 "np.cross(x[:, :3], x[:, 3:6])", "np.convolve(x[0], x[1][:3], mode='same')", "np.convolve(x[0], x[1], mode='valid')",
                 "np.linalg.matrix_power(self.w, 3)", "np.round(x * 90, -1)")

    def test_made_arrays(self):
        self.all("x + np.arange(8)", "x * np.ones(8)", "np.zeros_like(x) + x", "x @ np.eye(8)", "np.full_like(x, 3) * x",
                 "np.where(np.tri(8, 8)[:4] > 0, x, -np.inf)", "x + np.linspace(0, 1, 8)", "np.array([[1.0] * 8]) * x")

    def test_powers_that_a_large_table_is_made_of_are_numpys(self):
        document = self.one("x[:, :1] + np.arange(400.0).reshape(4, 100).repeat(9, 1) * (10000.0 ** (np.arange(900) / 900))")
        self.assertNotIn("pow.Scalar", ops(document))

    def test_parameters_are_inputs(self):
        document = self.one("np.maximum(x @ self.w, 0)")
        self.assertEqual([entry["source"] for entry in document["inputs"]], ["inputs", "params"])


@needs("torch")
class Updates(NumpyTest):
    def test_sums_in_place(self):
        self.body("y = x.copy()\ny += 1\ny *= x\nreturn y")

    def test_masks(self):
        self.body("y = x * 2\ny[y < 0] = 0\nreturn y")

    def test_parts(self):
        self.body("y = np.zeros((4, 9), dtype=np.float32)\ny[:, 1:] = x\ny[0, 0] = 5\ny[1:] += y[:-1]\nreturn y")

    def test_views_follow_their_base_and_the_other_way(self):
        self.body("y = x.copy()\nz = y[1:].T\nz += 1\ny[0] = 7\nw = y[:2]\nz[2, :] = 0\nreturn y, z * 1, w * 1")

    def test_loops(self):
        self.body("y = np.empty_like(x)\nh = np.zeros(8, dtype=x.dtype)\nfor t in range(4):\n    h = 0.5 * h + x[t]\n"
                  "    y[t] = h\nreturn y")

    def test_places(self):
        self.body("y = np.zeros((4, 8))\ny[np.arange(4), [1, 2, 3, 0]] = 1\nreturn y * x")

    def test_out(self):
        self.body("y = np.zeros_like(x)\nnp.multiply(x, 2, out=y)\nreturn y")

    def test_places_added_to(self):
        self.body("y = x.copy()\nnp.add.at(y, [1, 1, 3], x[:3])\nnp.subtract.at(y, ([0, 0], [2, 2]), 1.5)\nreturn y")

    def test_out_where(self):
        self.body("y = x * 2\nnp.sqrt(x, out=y, where=x > 0)\nreturn y")

    def test_put_along_axis(self):
        self.body("y = x * 2\nnp.put_along_axis(y, np.argmax(x, axis=1)[:, None], 0.0, axis=1)\nreturn y")

    def test_an_input_is_not_changed(self):
        document = self.body("y = x + 0\nreturn y")
        self.assertEqual(document["values"][0]["name"], "input0")


@needs("numpy")
class Refusals(NumpyTest):
    def what(self, text):
        refusal = self.refusal(BODY.format("".join(f"        {line}\n" for line in text.split("\n"))), "numpy")
        self.assertGreater(refusal["line"], 0)
        return refusal["what"]

    def test_a_branch_on_data(self):
        self.assertEqual(self.what("if x.sum() > 0:\n    return x\nreturn -x"), "data-dependent control flow")

    def test_random_numbers(self):
        self.assertEqual(self.what("return x + np.random.rand(8)"), "random numbers")

    def test_a_number_read(self):
        self.assertEqual(self.what("return x * float(x[0, 0])"), "a value read from an array")

    def test_a_mask(self):
        self.assertEqual(self.what("return x[x > 0]"), "a shape that depends on data")

    def test_an_operation_without_words(self):
        refusal = self.refusal(MODEL.format("np.linalg.inv(x[:, :4])"), "numpy")
        self.assertIn("numpy.linalg.inv", refusal["detail"])
        self.assertIn("np.linalg.inv", refusal["text"])

    def test_an_order_of_numpys_own(self):
        self.assertEqual(self.what("return np.partition(x, 3)"), "an operation")
        self.assertEqual(self.what("return x.partition(3)"), "an operation")

    def test_how_many_there_are(self):
        self.assertEqual(self.what("return np.unique(x)"), "a shape that depends on data")


if __name__ == "__main__":
    unittest.main()
