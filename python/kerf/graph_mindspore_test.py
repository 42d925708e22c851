"""Capture of MindSpore tasks: each graph is computed with torch and compared with MindSpore on another draw."""

import unittest

from kerf.graph_testing import GraphTest, ops
from kerf.testing import mindspore_python, needs

PYTHON = mindspore_python()
CELL = """
class Model(nn.Cell):
    def __init__(self):
        super().__init__()
{}
    def construct(self, x):
{}
"""


def lines(text):
    return "".join(f"        {line}\n" for line in text.strip().split("\n"))


@needs("torch")
@unittest.skipIf(PYTHON is None, "no MindSpore: neither here, nor in KERF_MINDSPORE_PYTHON, nor in .venv-mindspore")
class MindsporeTest(GraphTest):
    python = PYTHON

    def check(self, text):
        """The graph, after computing it on another draw."""
        import torch
        document = self.graph(text, "mindspore")
        for number, (expected, got) in enumerate(self.expected(document)):
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True,
                                       msg=lambda text, number=number: f"output {number}: {text}")
        return document

    def body(self, text, init="pass"):
        return self.check(CELL.format(lines(init), lines(text)))

    def all(self, *expressions, init="pass"):
        """Several expressions in one task: a process each would take long."""
        return self.body("return (" + ",\n    ".join(expressions) + ",)", init)


class Pointwise(MindsporeTest):
    def test_names_the_line(self):
        node = self.body("return ops.maximum(x, 0)")["nodes"][-1]
        self.assertEqual((node["op"], node["text"]), ("aten.maximum.default", "return ops.maximum(x, 0)"))

    def test_arithmetic(self):
        self.all("x + 1", "2 - x", "x * x", "1 / (x * x + 1)", "x ** 2", "2.0 ** x", "x // 0.5", "x % 0.7", "-x", "ops.abs(x)",
                 "ops.pow(x * x, 0.5)", "ops.square(x)", "ops.sqrt(x * x)", "ops.rsqrt(x * x + 1)", "ops.exp(x)",
                 "ops.log(x * x + 1)", "ops.log1p(x * x)", "ops.expm1(x)", "ops.floor(x)", "ops.ceil(x)", "ops.round(x)",
                 "ops.erf(x)", "ops.sign(x)", "ops.reciprocal(x + 10)", "ops.atan2(x, x + 1)", "ops.floor_div(x, 2.0)",
                 "ops.fmod(x, 2.0)", "ops.remainder(x, x + 9)", "ops.lerp(x, x * 2, 0.5)", "ops.addcmul(x, x, x)",
                 "ops.xlogy(x, x * x + 1)", "ops.logaddexp(x, x * 2)", "ops.nan_to_num(x)", "ops.sin(x)", "ops.cos(x)",
                 "ops.tan(x)", "ops.asin(x * 0.1)", "ops.acos(x * 0.1)", "ops.atan(x)", "ops.sinh(x)", "ops.cosh(x)",
                 "ops.hypot(x, x + 1)", "ops.trunc(x)", "ops.log2(x * x + 1)", "ops.log10(x * x + 1)", "ops.isnan(x)",
                 "ops.isfinite(x)", "ops.isinf(x)", "ops.erfc(x)", "ops.addn((x, x, x))", "ops.acosh(x * x + 1)", "ops.asinh(x)",
                 "ops.atanh(x * 0.1)", "ops.addcdiv(x, x, x * x + 1)", "ops.erfinv(x * 0.1)", "ops.floor_mod(x, 2.0)", "ops.frac(x)",
                 "ops.inv(x + 10)", "ops.lgamma(x * x + 1)", "ops.SquaredDifference()(x, x * 2)", "ops.RealDiv()(x, 2.0)",
                 "float(x.sum()) * x")

    def test_activations(self):
        self.all("ops.relu(x)", "ops.sigmoid(x)", "ops.silu(x)", "ops.gelu(x, approximate='tanh')", "ops.gelu(x)", "ops.mish(x)",
                 "ops.softplus(x)", "ops.elu(x)", "ops.leaky_relu(x, 0.1)", "ops.hardswish(x)", "ops.hardsigmoid(x)",
                 "ops.relu6(x)", "ops.selu(x)", "ops.celu(x)", "ops.tanh(x)", "ops.logsigmoid(x)", "ops.hardtanh(x)",
                 "ops.softshrink(x)", "ops.hardshrink(x)", "ops.threshold(x, 0.1, 0.2)", "ops.softsign(x)", "ops.tanhshrink(x)",
                 "ops.glu(x)", "ops.prelu(x, ms.Tensor([0.1]))", "ops.softmax(x, axis=-1)", "ops.log_softmax(x, -1)",
                 "ops.softmax(x, axis=0)", "ops.logit(ops.sigmoid(x))", "ops.logit(x, eps=0.1)", "self.gelu(x)", "self.prelu(x)", "self.silu(x)",
                 init="self.gelu = nn.GELU()\nself.prelu = nn.PReLU(8)\nself.silu = nn.SiLU()")

    def test_choosing(self):
        self.all("ops.clamp(x, -1, 1)", "ops.clip_by_value(x, 0.0, 1.0)", "ops.where(x > 0, x, x * 0.1)",
                 "ops.select(x > 0, x, x * 0.1)", "ops.minimum(x, x * 2)", "ops.masked_fill(x, x > 0, 0.0)",
                 "(x > 0).logical_and(x < 1)", "ops.logical_not(x > 0)", "ops.logical_or(x > 1, x <= 0)", "x >= 0.5", "x == x", "x != 1",
                 "ops.clamp(x, min=0)", "ops.clamp(x, ops.zeros_like(x), x * x)", "x.masked_fill(x > 0, 0.5)", "ops.logical_xor(x > 0, x > 1)",
                 "x.eq(1.0)")

    def test_types(self):
        self.all("x.astype(ms.float64) + x", "(x * 3).astype(ms.int32) // 2", "x.astype(ms.float16) * 2",
                 "(x > 0).astype(ms.float32)", "(x * 9).astype(ms.int64) / 4", "x.astype(ms.bool_)", "(x * 3).astype(ms.int32) + x",
                 "(x * 9).astype(ms.int32) % 4", "(x > 0) * x", "x.astype(ms.bfloat16) + 1",
                 "ops.bitwise_and((x * 9).astype(ms.int32), 3)", "ops.bitwise_or((x * 9).astype(ms.int32), (x * 3).astype(ms.int32))",
                 "ops.bitwise_xor((x * 9).astype(ms.int32), (x * 3).astype(ms.int32))", "ops.invert((x * 9).astype(ms.int32))", "(x * 3).astype(ms.int8).astype(ms.float32)")


class Reductions(MindsporeTest):
    def test_reductions(self):
        self.all("x.sum()", "x.sum(1)", "ops.sum(x, dim=1, keepdim=True)", "x.mean(axis=(0, 1))", "ops.mean(x, -1, True)",
                 "x.max(axis=1)", "ops.max(x, axis=1)", "ops.amax(x, 1)", "ops.amin(x, (0, 1))", "x.min()", "ops.prod(x, 1)", "x.prod()",
                 "x.argmax(axis=1)", "ops.argmin(x, axis=1)", "ops.argmax(x)", "ops.var(x, axis=1)", "ops.std(x, 1, keepdims=True)",
                 "x.var(axis=1)", "x.std()", "ops.norm(x)", "ops.norm(x, dim=1)", "ops.norm(x, ord=1, dim=1)", "ops.logsumexp(x, 1)",
                 "ops.any(x > 0, 1)", "ops.all(x > 0)", "ops.count_nonzero(x)",
                 "ops.L2Normalize(axis=1)(x)", "ops.min(x, axis=0)", "ops.var_mean(x, 1)", "ops.reduce_sum(x, 0)", "x.max()", "ops.ReduceProd()(x, 1)")

    def test_scans_and_sorting(self):
        self.all("ops.cumsum(x, 1)", "ops.cumprod(x, 1)", "ops.cumsum(x.flip((1,)), 0)", "ops.CumSum(True, True)(x, 1)",
                 "ops.CumProd(True, False)(x, 1)", "ops.topk(x, 3)", "ops.sort(x, 1)", "ops.argsort(x, 1)", "ops.sort(x, 0, True)",
                 "ops.topk(x, 2, largest=False)", "ops.cummax(x, 1)", "ops.cummin(x, 0)", "ops.logcumsumexp(x, 1)")


class Products(MindsporeTest):
    INIT = """
self.w = ms.Parameter(ms.Tensor(np.random.randn(8, 8).astype(np.float32)))
self.fc = nn.Dense(8, 3, activation='relu')
self.k = ms.Tensor(np.random.randn(8).astype(np.float32))
"""

    def test_products(self):
        document = self.all(
            "ops.matmul(x, x.T)", "x @ self.w", "ops.bmm(x.reshape(2, 2, 8), x.reshape(2, 8, 2))",
            "ops.matmul(x.reshape(2, 2, 8), self.w)", "ops.matmul(x[0], x[1])", "ops.matmul(x, x[0])", "ops.dot(x, self.w)",
            "ops.dense(x, self.w, self.w[0])", "self.fc(x)", "ops.outer(x[0], x[1])", "ops.addmm(ops.ones((4, 8)), x, self.w)",
            "ops.baddbmm(ops.ones((2, 2, 2)), x.reshape(2, 2, 8), x.reshape(2, 8, 2), beta=2.0, alpha=0.5)", "ops.mm(x, self.w)",
            "ops.mv(x, x[0])", "x * self.k", "ops.matmul(x.reshape(2, 1, 2, 8), self.w.reshape(1, 8, 8))", init=self.INIT)
        self.assertEqual([entry.get("name") for entry in document["inputs"]], [None, "w", "fc.weight", "fc.bias", "k"])
        self.assertIn("mm.default", ops(document))

    def test_attention(self):
        document = self.body("y = x.reshape(4, 1, 8)\nreturn self.m(y, y, y)[0]", "self.m = nn.MultiheadAttention(8, 2)")
        self.assertIn("_softmax.default", ops(document))


class Shapes(MindsporeTest):
    def test_views(self):
        self.all("x.reshape(8, 4)", "x.view(2, 16)", "x.T", "ops.transpose(x, (1, 0))", "x.swapaxes(0, 1)", "x.permute(1, 0)", "x[1]",
                 "x[:, 1:3]", "x[:, ::2]", "x[..., -1]", "x[:, None]", "x[1, 2]", "x[-1]", "x[::-1]", "x[3:0:-2]", "x.expand_dims(1)",
                 "ops.unsqueeze(x, 0)", "x.reshape(4, 1, 8).squeeze(1)", "ops.flatten(x)", "ops.moveaxis(x, 0, 1)",
                 "ops.broadcast_to(x[0], (3, 8))", "ops.narrow(x, 1, 2, 3)", "ops.strided_slice(x, (0, 1), (4, 7), (1, 2))",
                 "ops.slice(x, (0, 1), (4, 3))", "ops.squeeze(x.reshape(4, 1, 8))", "x.view_as(x * 2)", "x.contiguous() * 2", "x.select(1, 2)",
                 "ops.diagonal(x)")

    def test_joining_and_parting(self):
        self.all("ops.cat((x, x * 2), axis=1)", "ops.stack((x, x), axis=1)", "ops.split(x, 2, axis=1)", "ops.split(x, [3, 5], axis=1)",
                 "ops.chunk(x, 2, axis=1)", "ops.unbind(x, 0)", "ops.flip(x, (1,))", "ops.tile(x, (2, 1))",
                 "ops.repeat_interleave(x, 2, 1)", "ops.tile(x, (2, 1, 2))")

    def test_padding(self):
        self.all("ops.pad(x, (1, 2))", "ops.pad(x, (1, 2, 0, 3), value=3.0)", "ops.pad(x.reshape(1, 4, 8), (1, 2), mode='reflect')",
                 "ops.pad(x.reshape(1, 4, 8), (1, 2), mode='replicate')", "self.pad(x)", "self.reflect(x.reshape(1, 2, 4, 4))",
                 "ops.pad(x.reshape(1, 1, 4, 8), (1, 2, 2, 1), mode='reflect')",
                 init="self.pad = nn.Pad(((1, 1), (0, 2)))\nself.reflect = nn.ReflectionPad2d((1, 2, 0, 1))")

    def test_choosing(self):
        self.all("ops.tril(x)", "ops.triu(x, 1)", "ops.diag(x[0])", "ops.gather(x, ms.Tensor([0, 2]), 1)",
                 "ops.gather_elements(x, 1, ms.Tensor(np.array([[0, 2], [1, 1], [3, 3], [7, 0]])))", "x[ms.Tensor([0, 2])]",
                 "x[:, [2, 0]]", "x.index_select(1, ms.Tensor([0, 2]))", "ops.one_hot((x * x).astype(ms.int32), 5)",
                 "ops.scatter(x, 1, ms.Tensor(np.array([[0, 2]] * 4)), x[:, :2])",
                 "ops.tensor_scatter_add(x, ms.Tensor([[0], [1], [0]]), x[:3])", "ops.scatter_nd(ms.Tensor([[0], [2]]), x[:2], (4, 8))",
                 "self.table((x * x).astype(ms.int32) % 10)",
                 init="self.table = nn.Embedding(10, 4)")

    def test_made_tensors(self):
        self.all("ops.ones_like(x) * x + ops.zeros((4, 8), ms.float32)", "ops.arange(8) + x", "ops.full((8,), 2.0) + x",
                 "ops.eye(8, 8, ms.float32)[:4] + x", "ops.linspace(0, 1, 8) + x",
                 "ops.where(ops.tril(ops.ones((4, 8))) > 0, x, float('-inf'))", "x.new_ones((4, 8)) + x", "x.new_zeros((4, 8)) + x")

    def test_resizing(self):
        image = "x.reshape(1, 2, 4, 4)"
        self.all(f"ops.interpolate({image}, size=(8, 8), mode='bilinear')", f"ops.interpolate({image}, size=(7, 6), mode='nearest')",
                 f"ops.interpolate({image}, size=(7, 5), mode='bilinear', align_corners=True)", "self.m(x.reshape(1, 4, 2, 4))",
                 f"mint.nn.functional.interpolate({image}, scale_factor=2.0, mode='nearest')", init="self.m = nn.PixelShuffle(2)")

    def test_updates_of_a_new_tensor(self):
        self.body("r = ops.zeros_like(x)\nh = x[0]\nfor t in range(x.shape[0]):\n    h = h * 0.5 + x[t]\n    r[t] = h\nreturn r")


    def test_sums_in_place(self):
        self.body("y = x * 2\ny += 1\ny -= x\ny *= x\ny /= 3\nz = x * 1\nz[0] = 0\nz[:, 1:3] = x[:, :2]\nreturn y, z")


class Networks(MindsporeTest):
    IMAGE, ROWS, BLOCK = "x.reshape(1, 2, 4, 4)", "x.reshape(1, 4, 8)", "ops.tile(x, (2, 2)).reshape(1, 1, 4, 4, 8)"

    def layers(self, *pairs):
        """Each pair is a layer and what it is called with."""
        init = "\n".join(f"self.m{number} = {layer}" for number, (layer, _) in enumerate(pairs))
        return self.all(*[f"self.m{number}({given})" for number, (_, given) in enumerate(pairs)], init=init)

    def test_norms(self):
        document = self.layers(
            ("nn.BatchNorm2d(2)", self.IMAGE), ("nn.BatchNorm1d(8)", "x"), ("nn.GroupNorm(2, 2)", self.IMAGE),
            ("nn.LayerNorm((8,))", "x"), ("nn.LayerNorm((4, 8), begin_norm_axis=0, begin_params_axis=0)", "x"))
        self.assertIn("native_layer_norm.default", ops(document))

    def test_norms_written_out(self):
        self.all("ops.group_norm(x.reshape(1, 2, 4, 4), 2)", "x * ops.rsqrt((x * x).mean(-1, True) + 1e-6) * self.g",
                 init="self.g = ms.Parameter(ms.Tensor(np.random.rand(8).astype(np.float32)))")

    def test_convolutions(self):
        self.layers(
            ("nn.Conv2d(2, 3, 3)", self.IMAGE), ("nn.Conv2d(2, 3, 2)", self.IMAGE),
            ("nn.Conv2d(2, 3, 3, stride=2, pad_mode='pad', padding=1, has_bias=True)", self.IMAGE),
            ("nn.Conv2d(2, 4, 3, pad_mode='valid', group=2)", self.IMAGE),
            ("nn.Conv2d(2, 2, 3, group=2, dilation=2, pad_mode='pad', padding=2)", self.IMAGE),
            ("nn.Conv1d(4, 3, 3, has_bias=True)", self.ROWS), ("nn.Conv3d(1, 2, 3, pad_mode='valid')", self.BLOCK),
            ("nn.Conv2dTranspose(2, 3, 3, stride=2, pad_mode='pad', padding=1)", self.IMAGE),
            ("nn.Conv2dTranspose(2, 3, 3, stride=2)", self.IMAGE), ("nn.Conv1dTranspose(4, 3, 3, pad_mode='same')", self.ROWS),
            ("nn.Conv3dTranspose(1, 2, 3, pad_mode='valid')", self.BLOCK),
            ("nn.Conv2dTranspose(2, 4, 2, stride=2, pad_mode='valid', has_bias=True)", self.IMAGE))

    def test_pooling(self):
        self.layers(
            ("nn.MaxPool2d(2, 2)", self.IMAGE), ("nn.MaxPool2d(3, 2, pad_mode='pad', padding=1)", self.IMAGE),
            ("nn.MaxPool2d(3, 2, pad_mode='same')", self.IMAGE), ("nn.AvgPool2d(2, 2)", self.IMAGE),
            ("nn.AvgPool2d(3, 2, pad_mode='same')", self.IMAGE), ("nn.AvgPool2d(3, 1, pad_mode='same')", self.IMAGE),
            ("nn.AvgPool2d(3, 2, pad_mode='pad', padding=1, count_include_pad=False)", self.IMAGE),
            ("nn.MaxPool1d(2, 2)", self.ROWS), ("nn.AvgPool1d(2, 2)", self.ROWS), ("nn.AdaptiveAvgPool2d(1)", self.IMAGE),
            ("nn.AdaptiveAvgPool2d((2, 3))", self.IMAGE), ("nn.AdaptiveMaxPool2d(2)", self.IMAGE),
            ("nn.MaxPool3d(2, 2)", self.BLOCK), ("nn.AvgPool3d(2, 2)", self.BLOCK))

    def test_pooling_functions(self):
        self.all(f"ops.max_pool2d({self.IMAGE}, 2)", f"ops.avg_pool2d({self.IMAGE}, 2)", f"ops.adaptive_avg_pool2d({self.IMAGE}, 1)",
                 f"ops.adaptive_avg_pool3d({self.BLOCK}, 2)", f"ops.adaptive_max_pool3d({self.BLOCK}, 2)", f"ops.max_pool3d({self.BLOCK}, 2)")

    def test_losses(self):
        self.all("self.mse(x, x * 2)", "self.l1(x, x * 2)", "self.smooth(x, x * 2)", "self.huber(x, x * 2)",
                 "ops.cross_entropy(x, self.t)", "ops.nll_loss(x, self.t)", "ops.kl_div(x, ops.softmax(x), 'batchmean')",
                 "ops.binary_cross_entropy(ops.sigmoid(x), ops.sigmoid(x * 2))", "ops.cosine_similarity(x, x * 2 + 1, dim=1)",
                 "ops.binary_cross_entropy_with_logits(x, ops.sigmoid(x * 2), ops.ones_like(x), ops.ones_like(x))",
                 "ops.hinge_embedding_loss(x, ops.sign(x))", "ops.margin_ranking_loss(x, x * 2, ops.sign(x))",
                 "self.smoothed(x, self.t)", "self.sparse(x, self.t)", "self.dense(x, ops.softmax(x))", "mint.nn.functional.nll_loss(x, self.t.long())", "ops.cross_entropy(x, self.t, reduction='none')",
                 init="self.mse = nn.MSELoss()\nself.l1 = nn.L1Loss()\nself.smooth = nn.SmoothL1Loss()\nself.huber = nn.HuberLoss()\n"
                      "self.t = ms.Tensor([1, 2, 3, 0], ms.int32)\nself.smoothed = nn.CrossEntropyLoss(label_smoothing=0.1)\n"
                      "self.dense = nn.SoftmaxCrossEntropyWithLogits()\nself.sparse = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')")


class Mint(MindsporeTest):
    """The functions with torch's names; several have primitives of their own, and some run only on other devices."""

    def test_functions(self):
        self.all("mint.add(x, x, alpha=2)", "mint.sub(x, 1)", "mint.nn.functional.softmax(x, dim=-1)", "mint.matmul(x, x.T)",
                 "mint.sum(x, dim=1)", "mint.amax(x, 1)", "mint.cat([x, x], 1)", "mint.where(x > 0, x, 0)", "mint.clamp(x, 0, 1)",
                 "mint.flip(x, [0])", "mint.nn.functional.relu(x)", "mint.nn.functional.silu(x)", "mint.square(x)", "mint.tile(x, (2, 1))",
                 "mint.permute(x, (1, 0))", "mint.nn.functional.linear(x, mint.ones((3, 8)))", "mint.rsqrt(x * x + 1)",
                 "mint.abs(x)", "mint.prod(x, 1)", "mint.narrow(x, 1, 0, 2)", "mint.split(x, 3, 1)", "mint.add(x, 2, alpha=3)",
                 "mint.sub(x, x, alpha=2)", "mint.bmm(x.reshape(2, 2, 8), x.reshape(2, 8, 2))", "mint.broadcast_to(x[0], (3, 8))", "mint.t(x)",
                 "mint.chunk(x, 2, 1)", "mint.div(x, 2, rounding_mode='floor')", "mint.unsqueeze(x, 0)", "mint.flatten(x)", "mint.fmod(x, 2.0)",
                 "mint.fmod(x, x + 9)", "mint.remainder(x, x + 9)", "mint.remainder(2.0, x * x + 1)", "mint.nn.functional.glu(x)", "mint.ge(x, 0.5)",
                 "mint.max(x, 1)", "mint.min(x, 1)", "mint.mean(x, 1)", "mint.pow(x, 2)", "mint.pow(2.0, x)", "mint.nn.functional.softplus(x)",
                 "mint.split(x, [3, 5], 1)", "mint.transpose(x, 0, 1)", "mint.unbind(x, 0)", "mint.xlogy(x, 2.0)")


class Refusals(MindsporeTest):
    def what(self, text, init="pass"):
        return self.refusal(CELL.format(lines(init), lines(text)), "mindspore")

    def test_a_branch_on_data(self):
        self.assertEqual(self.what("if x.sum() > 0:\n    return x\nreturn -x")["what"], "data-dependent control flow")

    def test_random_numbers(self):
        refusal = self.what("return x + ops.randn(4, 8)")
        self.assertEqual((refusal["what"], refusal["text"]), ("random numbers", "return x + ops.randn(4, 8)"))

    def test_an_update_that_somebody_sees(self):
        refusal = self.what("y = x * 2\nz = y\ny.add_(1)\nreturn z * 2")
        self.assertEqual((refusal["what"], refusal["text"]), ("an update in place", "y.add_(1)"))

    def test_a_mask(self):
        self.assertEqual(self.what("return ops.masked_select(x, x > 0)")["what"], "a shape that depends on data")

    def test_an_operation_without_words(self):
        refusal = self.what("return ops.inverse(x[:, :4])")
        self.assertEqual(refusal["what"], "an operation")
        self.assertIn("MatrixInverse", refusal["detail"])
        self.assertIn("ops.inverse", refusal["text"])

    def test_what_mindspore_cannot_compile(self):
        refusal = self.what("return x.nothing_of_the_kind()")
        self.assertEqual(refusal["what"], "MindSpore's export")
        self.assertIn("nothing_of_the_kind", refusal["text"])

    def test_a_recurrent_layer(self):
        self.assertIn("LSTM", self.what("return self.m(x.reshape(4, 1, 8))[0]", "self.m = nn.LSTM(8, 4)")["detail"])


class Inputs(MindsporeTest):
    def test_a_list_by_name_and_a_number(self):
        document = self.check("""
            class Model(nn.Cell):
                def construct(self, x, scale, pair):
                    return pair[0] * scale + pair[1] @ x
            def get_inputs():
                draw = lambda *shape: ms.Tensor(np.random.randn(*shape).astype(np.float32))
                return {"pair": [draw(4, 8), draw(4, 4)], "scale": 1.5, "x": draw(4, 8)}
            """)
        self.assertEqual([entry["index"] for entry in document["inputs"]], [0, 1, 3])
        self.assertEqual(document["specialised"], [{"index": 2, "value": 1.5}])

    def test_several_outputs(self):
        self.body("return {'a': x + 1, 'b': [x * 2, x]}")


if __name__ == "__main__":
    unittest.main()
