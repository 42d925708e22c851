"""Written by kerf's synthesizer: 1 operation in 1 kernel. Sizes are part of the kernels."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

INF = tl.constexpr(float("inf"))
NAN = tl.constexpr(float("nan"))


@triton.jit
def max_nan(a, b):
    """The larger one; NaN wins, as in torch."""
    return tl.where((a < b) | (b != b), b, a)


@triton.jit
def row_max(x):
    """The largest of each row; NaN wins."""
    return tl.where(tl.max((x != x).to(tl.int32), axis=1) != 0, NAN, tl.max(x, axis=1))


@triton.jit
def exp_float(x):
    """e^x: 2^n * e^r with |r| <= ln(2)/2, and 2^n in two steps for the ends of the range."""
    c = tl.where(x > 89.0, 89.0, tl.where(x < -104.0, -104.0, x))
    n = tl.floor(c * 1.44269504 + 0.5)
    r = tl.fma(n, -0.693145752, c)
    r = tl.fma(n, -1.42860677e-6, r)
    p = tl.fma(r, 0.00139505193, 0.00836890867)
    p = tl.fma(p, r, 0.0416662054)
    p = tl.fma(p, r, 0.166665187)
    p = tl.fma(p, r, 0.50000001)
    p = tl.fma(p * r, r, r) + 1.0
    half = tl.floor(n * 0.5)
    return p * tl.exp2(half) * tl.exp2(n - half)


@triton.jit
def step1_softmax_kernel(input0, softmax):
    # maximum, sum of exponentials, inverse sum, softmax
    # line 8: return torch.softmax(x, dim=1)
    row = (tl.program_id(0) * 8 + tl.arange(0, 8))[:, None]
    maximum_acc = tl.full([8, 512], (-INF), tl.float32)
    col = tl.arange(0, 512)[None, :]
    maximum_acc = max_nan(maximum_acc, tl.load(input0 + row * 512 + col))
    maximum_value = row_max(maximum_acc)[:, None].to(tl.float32)
    sum_of_exponentials_acc = tl.full([8, 512], 0.0, tl.float32)
    col = tl.arange(0, 512)[None, :]
    sum_of_exponentials_acc += exp_float(tl.load(input0 + row * 512 + col) - maximum_value)
    sum_of_exponentials_value = tl.sum(sum_of_exponentials_acc, axis=1)[:, None].to(tl.float32)
    inverse_sum_value = 1.0 / sum_of_exponentials_value
    col = tl.arange(0, 512)[None, :]
    tl.store(softmax + row * 512 + col, exp_float(tl.load(input0 + row * 512 + col) - maximum_value) * inverse_sum_value)


class ModelNew(nn.Module):
    def __init__(self, *args):
        super().__init__()

    def forward(self, *inputs):
        input0 = inputs[0].contiguous()
        assert input0.shape == (64, 512), "sizes are part of the kernels"
        softmax = torch.empty((64, 512), dtype=torch.float32, device=input0.device)
        step1_softmax_kernel[(8, )](input0, softmax)
        return softmax
