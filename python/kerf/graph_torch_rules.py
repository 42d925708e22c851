"""How ATen operations are written with fewer of them.

Kept whole are the core ATen operations, because a planner wants a convolution or a softmax in one piece; the rest goes
through torch's own table of decompositions, and through the rules here where the table loses what a planner needs.
"""

import functools
import math

import torch
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.overrides import TorchFunctionMode

from kerf import graph_torch_compound
from kerf.graph_build import Refused

aten = torch.ops.aten

# Give the same values in another tensor.
SAME = {aten.clone.default, aten.detach.default, aten.alias.default, aten.lift_fresh.default,
        aten.lift_fresh_copy.default, aten.positive.default, aten.contiguous.default, aten.alias_copy.default,
        aten.detach_copy.default}

# Of torch's table these stay whole: one operation is easier to plan than what it consists of.
KEPT = ("cumsum.default", "cumprod.default", "index_select.default", "embedding.default", "avg_pool1d.default",
        "native_group_norm.default", "native_layer_norm.default", "logcumsumexp.default", "scatter_add.default",
        "masked_fill.Scalar_")
# Not core, not in the core table, and in torch's larger one.
ALSO = ("upsample_bilinear2d.default", "upsample_bicubic2d.default", "upsample_trilinear3d.default",
        "grid_sampler_2d.default", "adaptive_max_pool2d.default")


def overload(text):
    name, which = text.split(".")
    packet = getattr(aten, name, None)
    return getattr(packet, which, None)


def rule(*names):
    def add(function):
        OWN.update((operation, function) for operation in map(overload, names) if operation is not None)
        return function
    return add


OWN = {}


@functools.lru_cache(maxsize=1)
def rules():
    table = dict(core_aten_decompositions())
    for text in KEPT:
        table.pop(overload(text), None)
    for text in ALSO:
        if overload(text) in decomposition_table:
            table[overload(text)] = decomposition_table[overload(text)]
    table.update(graph_torch_compound.OWN)
    table.update(OWN)
    return table


@functools.lru_cache(maxsize=None)
def is_composite(func):
    return (torch.Tag.core not in func.tags
            and torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"))


def functional_of(func):
    """add for add_, None when there is no such."""
    name = func._schema.name.split("::")[1]
    if not name.endswith("_") or name.startswith("_"):
        return None
    if name == "zero_":
        return aten.zeros_like.default
    if name == "copy_":
        return lambda target, source, non_blocking=False: source.to(target.dtype).expand(target.shape)
    return getattr(getattr(aten, name[:-1], None), func._overloadname, None)


# Products.

@rule("mv.default")
def mv(self, vec):
    return aten.mm(self, vec.unsqueeze(1)).squeeze(1)


@rule("dot.default", "vdot.default")
def dot(self, tensor):
    return aten.mm(self.unsqueeze(0), tensor.unsqueeze(1)).reshape(())


@rule("addmv.default")
def addmv(self, mat, vec, *, beta=1, alpha=1):
    return scaled_sum(self, aten.mm(mat, vec.unsqueeze(1)).squeeze(1), beta, alpha)


@rule("baddbmm.default")
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    return scaled_sum(self, aten.bmm(batch1, batch2), beta, alpha)


@rule("addbmm.default")
def addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    return scaled_sum(self, aten.bmm(batch1, batch2).sum(0), beta, alpha)


def scaled_sum(self, product, beta, alpha):
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return product + (self if beta == 1 else self * beta)


# Norms.

@rule("native_batch_norm.default", "_native_batch_norm_legit.default", "_native_batch_norm_legit.no_stats",
      "cudnn_batch_norm.default")
def batch_norm(input, weight, bias, *rest):
    if len(rest) == 5:
        mean, variance, training, _, eps = rest
    else:
        (training, _, eps), mean, variance = rest, None, None
    if not training:
        return aten._native_batch_norm_legit_no_training(input, weight, bias, mean, variance, 0.1, eps)
    if mean is not None and input.shape[0] != 1:
        raise Refused("batch statistics", "a batch norm in training mode changes its running statistics")
    if input.shape[0] == 1:  # what instance_norm makes of itself
        channels = input.shape[1]
        area = math.prod(input.shape[2:])
        return aten.native_group_norm(input, weight, bias, 1, channels, area, channels, eps)
    dims = [0, *range(2, input.dim())]
    shape = [1, -1] + [1] * (input.dim() - 2)
    variance, mean = torch.var(input, dims, correction=0, keepdim=True), torch.mean(input, dims, keepdim=True)
    output = (input - mean) * torch.rsqrt(variance + eps)
    if weight is not None:
        output = output * weight.view(shape)
    if bias is not None:
        output = output + bias.view(shape)
    return output, mean.flatten(), variance.flatten()


@rule("linalg_vector_norm.default")
def vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    if dtype is not None:
        self = self.to(dtype)
    dim = list(range(self.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if ord == 2:
        return torch.sqrt(torch.sum(self * self, dim, keepdim))
    if ord == 1:
        return torch.sum(torch.abs(self), dim, keepdim)
    if ord == 0:
        return torch.sum((self != 0).to(self.dtype), dim, keepdim)
    if ord in (math.inf, -math.inf):
        return (torch.amax if ord > 0 else torch.amin)(torch.abs(self), dim, keepdim)
    return torch.pow(torch.sum(torch.pow(torch.abs(self), ord), dim, keepdim), 1.0 / ord)


@rule("var_mean.correction")
def var_mean(self, dim=None, *, correction=None, keepdim=False):
    return (torch.var(self, dim, correction=correction, keepdim=keepdim),
            torch.mean(self, list(range(self.dim())) if dim is None else dim, keepdim=keepdim))


@rule("logsumexp.default")
def logsumexp(self, dim, keepdim=False):
    dim = [dim] if isinstance(dim, int) else list(dim)
    self = self if self.is_floating_point() else self.to(torch.get_default_dtype())
    most = torch.amax(self, dim, keepdim=True)
    most = torch.where(torch.abs(most) == math.inf, 0.0, most)
    total = torch.log(torch.sum(torch.exp(self - most), dim, keepdim=True)) + most
    return total if keepdim else total.squeeze(dim)


# Pooling and shapes.

@rule("max_pool1d.default")
def max_pool1d(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    kernel_size, stride, padding, dilation = [
        [value] if isinstance(value, int) else list(value) for value in (kernel_size, stride, padding, dilation)]
    return aten.max_pool2d_with_indices(self.unsqueeze(-2), [1, *kernel_size], [1, *(stride or kernel_size)],
                                        [0, *padding], [1, *dilation], ceil_mode)[0].squeeze(-2)


@rule("split_with_sizes.default", "split_with_sizes_copy.default")
def split_with_sizes(self, split_sizes, dim=0):
    starts = [sum(split_sizes[:index]) for index in range(len(split_sizes))]
    return [aten.slice(self, dim, start, start + size) for start, size in zip(starts, split_sizes)]


@rule("split.Tensor", "split_copy.Tensor")
def split(self, split_size, dim=0):
    length = self.shape[dim]
    return split_with_sizes(self, [min(split_size, length - start) for start in range(0, length, split_size)], dim)


@rule("unsafe_split.Tensor", "unsafe_split_with_sizes.default")
def unsafe_split(self, split_size, dim=0):
    """Recurrent cells write into the pieces."""
    pieces = (split if isinstance(split_size, int) else split_with_sizes)(self, split_size, dim)
    return [piece.clone(memory_format=torch.contiguous_format) for piece in pieces]


@rule("unbind.int", "unbind_copy.int")
def unbind(self, dim=0):
    return [aten.select(self, dim, index) for index in range(self.shape[dim])]


@rule("sort.stable")
def sort(self, *, stable=None, dim=-1, descending=False):
    return aten.sort.default(self, dim, descending)


# torch writes these piece by piece into memory it has just made.

def pad(input, pad, mode="constant", value=None):
    return pad_circular(input, pad) if mode == "circular" else PAD(input, pad, mode, value)


def pad_circular(self, pad):
    for place in range(0, len(pad), 2):
        dim = self.dim() - 1 - place // 2
        size = self.shape[dim]
        self = self.index_select(dim, torch.arange(-pad[place], size + pad[place + 1]) % size)
    return self


def block_diag(*tensors):
    blocks = [tensor.reshape(1, -1) if tensor.dim() < 2 else tensor for tensor in tensors]
    width, before, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        rows.append(torch.nn.functional.pad(block, (before, width - before - block.shape[1])))
        before += block.shape[1]
    return torch.cat(rows)


# Without values of their own; whoever reads them must have written them first.
@rule("empty.memory_format", "empty_strided.default")
def empty(size, *_, dtype=None, **__):
    return torch.zeros(size, dtype=dtype)


@rule("new_empty.default", "new_empty_strided.default", "empty_like.default")
def empty_like(self, size=None, *_, dtype=None, **__):
    return torch.zeros(self.shape if size is None else size, dtype=dtype or self.dtype)


@rule("index_put.default")
def index_put(self, indices, values, accumulate=False):
    """With one mask and one value it is a choice."""
    masks = [index for index in indices if index is not None]
    if accumulate or len(masks) != 1 or masks[0].dtype != torch.bool or values.numel() != 1:
        return NotImplemented
    before = next(place for place, index in enumerate(indices) if index is not None)
    mask = masks[0].reshape([1] * before + list(masks[0].shape) + [1] * (self.dim() - before - masks[0].dim()))
    return torch.where(mask, values.reshape(()).to(self.dtype), self)


# torch's own rules for these import its compiler, which takes longer than everything else here.

@rule("softplus.default")
def softplus(self, beta=1, threshold=20):
    scaled = self if beta == 1 else self * beta
    smooth = torch.log1p(torch.exp(scaled))
    return torch.where(scaled > threshold, self, smooth if beta == 1 else smooth / beta)


@rule("rrelu_with_noise.default", "rrelu_with_noise_.default", "rrelu_with_noise_functional.default")
def rrelu(self, noise, lower=0.125, upper=1 / 3, training=False, generator=None):
    if training:
        raise Refused("random numbers", "rrelu in training mode draws other slopes in each run")
    return torch.nn.functional.leaky_relu(self, (lower + upper) / 2)


@rule("mish.default")
def mish(self):
    return self * torch.tanh(torch.nn.functional.softplus(self))


@rule("glu.default")
def glu(self, dim=-1):
    left, right = torch.chunk(self, 2, dim)
    return left * torch.sigmoid(right)


@rule("xlogy.Tensor")
def xlogy(self, other):
    product = torch.where(self == 0, 0.0, self * torch.log(other))
    return torch.where(torch.isnan(other), math.nan, product)


@rule("addcmul.default")
def addcmul(self, tensor1, tensor2, *, value=1):
    return self + (tensor1 * tensor2 if value == 1 else value * tensor1 * tensor2)


@rule("addcdiv.default")
def addcdiv(self, tensor1, tensor2, *, value=1):
    return self + (tensor1 / tensor2 if value == 1 else value * (tensor1 / tensor2))


@rule("lerp.Scalar", "lerp.Tensor")
def lerp(self, end, weight):
    return self + weight * (end - self)


@rule("logaddexp.default")
def logaddexp(self, other):
    most = torch.maximum(self, other)
    smooth = most + torch.log1p(torch.exp(-torch.abs(self - other)))
    return torch.where(torch.isinf(most) & (self == other), most, smooth)


@rule("nan_to_num.default")
def nan_to_num(self, nan=None, posinf=None, neginf=None):
    if not self.is_floating_point():
        return self.clone()
    limits = torch.finfo(self.dtype)
    result = torch.where(torch.isnan(self), nan or 0.0, self)
    result = torch.where(result == math.inf, limits.max if posinf is None else posinf, result)
    return torch.where(result == -math.inf, limits.min if neginf is None else neginf, result)


@rule("huber_loss.default")
def huber_loss(self, target, reduction=1, delta=1.0):
    apart = torch.abs(self - target)
    loss = torch.where(apart < delta, 0.5 * apart * apart, delta * (apart - 0.5 * delta))
    return loss if reduction == 0 else loss.mean() if reduction == 1 else loss.sum()


# Attention.

def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Two matrix products with a softmax between them. Half types are computed in float32, as the fused kernels do."""
    if dropout_p:
        raise Refused("random numbers", "scaled_dot_product_attention with dropout_p draws other numbers in each run")
    dtype = query.dtype
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = torch.matmul(query.to(wide), key.to(wide).transpose(-2, -1)) * scale
    empty_rows = None
    if is_causal:
        rows = torch.arange(scores.shape[-2]).unsqueeze(1)
        columns = torch.arange(scores.shape[-1]).unsqueeze(0)
        scores = torch.where(columns <= rows, scores, -math.inf)
    elif attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = torch.where(attn_mask, scores, -math.inf)
        empty_rows = torch.logical_not(torch.any(attn_mask, -1, keepdim=True))
    elif attn_mask is not None:
        scores = scores + attn_mask.to(wide)
    weights = torch.softmax(scores, -1)
    if empty_rows is not None:
        weights = torch.where(empty_rows, 0.0, weights)
    return torch.matmul(weights, value.to(wide)).to(dtype)


def one_hot(tensor, num_classes=-1):
    """torch looks whether the classes are in range, or how many there are."""
    if num_classes < 0:
        raise Refused("a shape that depends on data", "one_hot without the number of classes")
    return (tensor.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


PAD = torch.nn.functional.pad
CAUGHT = {torch.nn.functional.scaled_dot_product_attention: attention, torch.nn.functional.one_hot: one_hot,
          torch.nn.functional.pad: pad, torch.block_diag: block_diag, **graph_torch_compound.CAUGHT}


class Functions(TorchFunctionMode):
    """What must be caught before torch chooses a kernel for it."""

    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func, types, args=(), kwargs=None):
        try:
            return CAUGHT.get(func, func)(*args, **(kwargs or {}))
        except Refused as error:
            if not error.line:
                error.line, error.text = self.recorder.source.here()
            raise
