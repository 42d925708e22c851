"""Prepares something in its first call, by a kernel, and keeps it."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(y + at, value / (1 + tl.exp(-value)), mask=at < n)


def silu(x):
    y = torch.empty_like(x)
    silu_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y


packed = {}


@triton.jit
def one_kernel(one):
    tl.store(one, 1.0)


@triton.jit
def with_one_kernel(x, one, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(y + at, value / (tl.load(one) + tl.exp(-value)), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        if 'one' not in packed:
            packed['one'] = torch.empty(1)
            one_kernel[(1,)](packed['one'])
        y = torch.empty_like(x)
        with_one_kernel[(triton.cdiv(x.numel(), 256),)](x, packed['one'], y, x.numel(), BLOCK=256)
        return y
