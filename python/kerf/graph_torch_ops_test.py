"""Every family of torch operations: captured, then computed from the graph on another draw."""

import os
import unittest

from kerf.graph_testing import GraphTest, compute_task
from kerf.testing import needs

TEXT = """
import torch.nn.functional as F
def long(*values): return torch.tensor(values)
class Model(nn.Module):
    def forward(self, x, y, k):
        v, image = x[0], x.reshape(1, 2, 4, 4)
        return ({},)
def get_inputs():
    return [torch.randn(4, 8), torch.rand(4, 8) + 0.1, torch.randint(0, 4, (4,))]
"""


@needs("torch")
class Families(GraphTest):
    def check(self, *expressions):
        import torch
        document = self.graph(TEXT.format(", ".join(expressions)))
        pairs = compute_task(document, os.path.join(self.folder, "op_torch.py"), "torch")
        self.assertEqual(len(pairs), len(expressions))
        for expression, (expected, got) in zip(expressions, pairs):
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True, msg=lambda text: (
                f"{expression}: {text}"))  # noqa: B023

    def test_activations(self):
        names = ("relu relu6 elu selu celu leaky_relu gelu silu mish hardswish hardsigmoid hardtanh softplus softsign "
                 "logsigmoid tanhshrink softshrink hardshrink sigmoid tanh").split()
        self.check(*(f"F.{name}(x * 3)" for name in names), "F.glu(x)", "F.gelu(x, approximate='tanh')",
                   "F.threshold(x, 0.1, 20)", "F.prelu(x, v[:1])", "F.softplus(x, beta=2, threshold=1)", "F.rrelu(x)")

    def test_pointwise(self):
        self.check("x.exp()", "y.log()", "y.log2()", "y.log10()", "y.log1p()", "y.sqrt()", "y.rsqrt()", "x.sin()", "x.cos()",
                   "x.tan()", "x.atan()", "x.sinh()", "x.cosh()", "x.erf()", "x.expm1()", "x.abs()", "x.sign()", "x.floor()",
                   "x.ceil()", "x.round()", "x.trunc()", "x.frac()", "y.reciprocal()", "x.square()", "x ** 3", "y ** x",
                   "2.0 ** x", "x % 0.7", "torch.fmod(x, 0.7)", "x // 0.5", "torch.maximum(x, y)", "x.clamp(-1, 1)",
                   "x.clamp(min=v)", "torch.lerp(x, y, 0.3)", "torch.addcmul(x, x, y, value=2)", "torch.addcdiv(x, x, y)",
                   "torch.logaddexp(x, y)", "torch.hypot(x, y)", "torch.atan2(x, y)", "torch.xlogy(y, y)", "x.nan_to_num()",
                   "torch.sinc(x)", "y.logit(0.1)", "x.heaviside(v)", "torch.where(x > y, x, y)", "x.masked_fill(x > 0, 7)",
                   "torch.rsub(x, 3)", "1 / y", "x.erfc()", "torch.copysign(x, y)")

    def test_comparisons_and_types(self):
        self.check("x > y", "(x > 0) & (y < 0.5)", "~(x > 0)", "torch.logical_xor(x > 0, y)", "x.isnan()", "x.double() * x",
                   "x.half() + 1", "x.bfloat16() * 2", "(x * 5).int() // 2", "(x * 5).long() % 3", "k + 0.5", "k * x[:, 0]",
                   "k.float().mean()", "(x > 0).float().sum()", "(x > 0).sum(1)", "x == x.round()", "k << 1", "k ^ 3",
                   "torch.isfinite(x)", "(k > 1).any()", "k / 2", "x.to(torch.uint8).sum()")

    def test_reductions(self):
        self.check("x.sum()", "x.mean(1)", "x.prod(0)", "x.prod()", "x.amax((0, 1))", "x.amin(0)", "x.max(1)[1]", "x.min(0)[0]",
                   "x.argmax()", "x.argmin(1, keepdim=True)", "x.var()", "x.std(1)", "x.var(0, unbiased=False)", "x.norm()",
                   "x.norm(p=1, dim=1)", "torch.linalg.norm(x)", "torch.linalg.vector_norm(x, 3, 1)", "x.logsumexp(1)",
                   "(x > 2).any(1)", "(x > -9).all()", "torch.std_mean(x)[0]", "torch.var_mean(x, 1)[1]", "x.nansum()",
                   "torch.count_nonzero(x > 0)", "x.abs().max()", "torch.aminmax(x)[1]", "F.normalize(x, dim=1)",
                   "torch.dist(x, y)", "x.mean((0, 1), keepdim=True)", "torch.nanmean(x)", "x.norm(float('inf'))")

    def test_scans_and_order(self):
        self.check("x.cumsum(1)", "y.cumprod(0)", "x.flip(1).cumsum(1).flip(1)", "x.logcumsumexp(1)", "x.sort(1)[0]", "x.argsort(1)",
                   "x.topk(3)[0]", "x.topk(2, largest=False)[1]", "x.sort(0, descending=True)[1]", "x.cummax(1)[0]",
                   "x.median(1)[0]", "x.kthvalue(2)[0]")

    def test_places_in_an_order(self):
        self.check("x.cummax(1)[1]", "x.cummin(0).indices", "(x > 0).long().cummax(1)[1]", "x.median(0)[1]", "x.median()", "x.kthvalue(2)[1]",
                   "x.log().median(1)[0]", "x.log().nanmedian(1)[0]", "k.median(0)[0]", "torch.searchsorted(v.sort()[0], y, right=True)",
                   "torch.searchsorted(x.sort(1)[0], y)", "torch.searchsorted(torch.arange(200) / 100, x)", "torch.bucketize(x, long(0, 1), "
                   "out_int32=True)", "torch.histc(x, 5, -2, 2)", "torch.histc(x, 4)")

    def test_parts_written(self):
        self.check("x.diagonal_scatter(v[:4])", "x.diagonal_scatter(v[:3], -1)", "x.diagonal_scatter(v[:4], 3)",
                   "image.diagonal_scatter(image.diagonal(1, 3, 1) * 2, 1, 3, 1)", "x.as_strided((3, 5), (8, 1), 2)", "(x * 1).fill_diagonal_(3)",
                   "x.masked_scatter(x > 0, y)", "x.scatter_reduce(1, k[:, None], y, 'amax', include_self=False)",
                   "x.scatter_reduce(1, k[:, None], y, 'mean')", "x.scatter_reduce(0, k[None], y, 'prod', include_self=False)",
                   "x[:, torch.arange(8) % 3 > 0]", "torch.combinations(v)", "x.masked_select(torch.eye(8)[:4] > 0)")

    def test_tables_and_numbers(self):
        self.check("F.embedding_bag(k[None], x)", "F.embedding_bag(k, x, long(0, 1, 1), mode='sum')", "F.embedding_bag(k[None], x, mode='max')",
                   "F.embedding_bag(k, x, long(0, 3), padding_idx=1)", "F.gaussian_nll_loss(x, y, y)", "torch.digamma(x * 5)",
                   "torch.ldexp(x, k[:, None])", "torch.vander(v, 4)", "torch.vander(v, increasing=True)", "F.pdist(x)", "F.pdist(x, 1)",
                   "F.bilinear(image[0], image[0], image[0, :1].expand(3, 4, 4), v[:3])",
                   "F.interpolate(image, (3, 2), mode='bilinear', antialias=True)", "F.interpolate(image, (2, 3), mode='bicubic', antialias=True)")

    def test_softmax_and_norms(self):
        self.check("x.softmax(1)", "x.log_softmax(0)", "F.softmin(x, 1)", "F.layer_norm(x, (8,), v, y[0])",
                   "F.group_norm(image, 2)", "F.instance_norm(image)", "F.batch_norm(x, v, y[0])", "F.rms_norm(x, (8,), v)",
                   "F.local_response_norm(image, 2)", "x.half().softmax(1)", "F.batch_norm(x, None, None, training=True)")

    def test_products(self):
        self.check("x @ y.T", "x @ v", "v @ v", "torch.outer(v, v)", "torch.einsum('ij,kj->ik', x, y)",
                   "torch.einsum('ij,ij->i', x, y)", "torch.bmm(image[0], image[0])", "torch.addmm(y[:, :4], x, y.T, beta=2)",
                   "torch.baddbmm(image[0], image[0], image[0])", "F.linear(x, y, k.float())", "image @ image[0, 0]",
                   "torch.tensordot(x, y, ([1], [1]))", "torch.kron(x, y)", "F.bilinear(x, y, image.reshape(1, 4, 8)[:, :1].expand("
                   "1, 8, 8), None)", "torch.chain_matmul(x, y.T, x)", "torch.tril(x @ y.T)", "torch.diag(v) @ y.T", "v.dot(v)",
                   "torch.addmv(k.float(), x, v)", "torch.cdist(x, y)", "v @ x.T", "v @ image.reshape(2, 8, 2)",
                   "torch.matmul(image.transpose(-1, -2), k.float())", "(x * 1).unsqueeze_(0).transpose_(1, 2) @ x")

    def test_convolutions(self):
        weight = "torch.ones(3, 2, 3, 3) * v[:3].reshape(3, 1, 1, 1)"
        self.check(f"F.conv2d(image, {weight})", f"F.conv2d(image, {weight}, v[:3], stride=2, padding=1)",
                   f"F.conv2d(image, {weight}, padding=2, dilation=2)", "F.conv2d(image, image.reshape(2, 1, 4, 4), groups=2)",
                   "F.conv1d(x[None], y.reshape(2, 4, 4))", "F.conv_transpose2d(image, image.reshape(2, 1, 4, 4), stride=2)",
                   "F.conv_transpose1d(x[None], y.reshape(4, 2, 4), padding=1, output_padding=1, stride=3)",
                   "F.conv3d(x.reshape(1, 1, 2, 4, 4), y.reshape(1, 1, 2, 4, 4), padding=1)",
                   "F.conv_transpose3d(x.reshape(1, 1, 2, 4, 4), y.reshape(1, 1, 2, 4, 4))", "F.conv2d(image, image, padding='same')")

    def test_pooling(self):
        self.check("F.max_pool2d(image, 2)", "F.max_pool1d(x, 3, 2, 1)", "F.max_pool3d(image, 2)", "F.avg_pool2d(image, 3, 1, 1)",
                   "F.avg_pool1d(x, 3, 2)", "F.avg_pool3d(image, 2)", "F.adaptive_avg_pool2d(image, 3)", "F.adaptive_avg_pool2d(image, 1)",
                   "F.adaptive_max_pool2d(image, 2)", "F.adaptive_avg_pool1d(x, 5)", "F.lp_pool2d(image, 2, 2)",
                   "F.max_pool2d(image, 3, 2, 1, ceil_mode=True)", "F.avg_pool2d(image, 2, count_include_pad=False, padding=1)")

    def test_choosing(self):
        self.check("F.embedding(k, x)", "x.gather(1, k[:, None])", "x.index_select(0, k)", "x[k]", "x[:, k]", "x[k, k]", "x.take(k)",
                   "torch.zeros(4, 8).scatter(0, k[None, :].expand(2, 4), x[:2, :4])", "x.scatter_add(1, k[:, None], y)",
                   "x.index_add(0, k, y)", "F.one_hot(k, 5)", "torch.take_along_dim(x, k[:, None], 1)", "x.index_copy(0, long(2, 0), y[:2])",
                   "x.index_fill(1, long(1), 5)", "torch.bucketize(y, v.sort()[0])", "x.scatter(1, k[:, None], 9.0)",
                   "x.scatter_reduce(1, k[:, None], y, 'amax')", "x[torch.arange(4), k]")

    def test_losses(self):
        self.check("F.mse_loss(x, y)", "F.l1_loss(x, y)", "F.huber_loss(x, y, delta=0.5)", "F.smooth_l1_loss(x, y)",
                   "F.cross_entropy(x, k)", "F.cross_entropy(x, k, label_smoothing=0.1)", "F.nll_loss(x.log_softmax(1), k)",
                   "F.kl_div(x.log_softmax(1), y.softmax(1), reduction='batchmean')", "F.binary_cross_entropy(x.sigmoid(), y.clamp(0, 1))",
                   "F.binary_cross_entropy_with_logits(x, y)", "F.hinge_embedding_loss(x, y)", "F.cosine_similarity(x, y)",
                   "F.triplet_margin_loss(x, y, x * 2)", "F.margin_ranking_loss(v, y[0], y[1])", "F.soft_margin_loss(x, y)",
                   "F.poisson_nll_loss(x, y)", "F.multi_margin_loss(x, k)", "F.cosine_embedding_loss(x, y, torch.ones(4))",
                   "F.huber_loss(x, y, reduction='none')", "F.cross_entropy(x, k, weight=y[0])", "F.pairwise_distance(x, y)",
                   "F.cross_entropy(x, y.softmax(1))", "F.mse_loss(x, y, reduction='sum')",
                   "F.multilabel_margin_loss(x, (torch.arange(32).reshape(4, 8) * 5 % 9) - 1)",
                   "F.multilabel_margin_loss(x, (torch.arange(32).reshape(4, 8) * 7 % 9) - 1, reduction='none')")

    def test_shapes(self):
        self.check("torch.cat([x, y], 1)", "torch.stack([x, y])", "x.split(3, 1)[2]", "x.chunk(2)[1]", "F.pad(x, (1, 2))",
                   "F.pad(x[None], (1, 2), mode='reflect')", "F.pad(x[None], (1, 2), mode='replicate')", "F.pad(x[None], (1, 2), mode='circular')",
                   "x.reshape(2, -1)", "x.T", "image.permute(0, 2, 3, 1)", "x[1:3, ::2]", "x.flip(0)", "x.roll(3, 1)", "x.repeat(2, 3)",
                   "x.repeat_interleave(2, 1)", "x.expand(3, 4, 8)", "x.unfold(1, 3, 2)", "torch.triu(x, 1)", "x.diagonal()",
                   "torch.diag_embed(v)", "x.unbind(1)[2]", "F.unfold(image, 2)", "F.fold(x.reshape(1, 4, 8), (3, 5), 2)",
                   "F.pixel_shuffle(image.reshape(1, 8, 2, 2), 2)", "F.pixel_unshuffle(image, 2)", "x.narrow(1, 2, 3)", "x.movedim(0, 1)",
                   "torch.meshgrid(v, k.float(), indexing='ij')[1]", "x.tile(2)", "torch.rot90(x)", "F.channel_shuffle(image, 2)", "x.diff()",
                   "x[:, None].squeeze(1)", "x.unflatten(1, (2, 4))", "torch.atleast_3d(x)", "torch.block_diag(x, y)")

    def test_interpolation(self):
        modes = ("nearest", "bilinear", "bicubic", "area", "nearest-exact")
        self.check(*(f"F.interpolate(image, scale_factor=2, mode='{mode}')" for mode in modes),
                   "F.interpolate(x[None], size=5, mode='linear')", "F.interpolate(image, size=(3, 7), mode='bilinear', align_corners=True)",
                   "F.interpolate(image.reshape(1, 1, 2, 4, 4), scale_factor=2, mode='trilinear')",
                   "F.grid_sample(image, torch.stack([x, y], -1).tanh()[None], align_corners=False)")

    def test_attention(self):
        self.check("F.scaled_dot_product_attention(image, image, image)",
                   "F.scaled_dot_product_attention(image, image, image, attn_mask=image[0, 0] > -9)",
                   "F.scaled_dot_product_attention(image, image, image, attn_mask=image, scale=0.3)",
                   "F.scaled_dot_product_attention(image, image[:, :1], image[:, :1], enable_gqa=True)")


if __name__ == "__main__":
    unittest.main()
