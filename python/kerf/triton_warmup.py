"""Runs a small kernel in Triton's interpreter: what it builds on its first launch is then there for every fork."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    total = tl.sum(tl.exp(value - tl.max(value, axis=0)), axis=0)
    tl.store(y + row * columns + i, tl.where(value > 0, value / total, value), mask=i < columns)


def run():
    x = torch.ones(2, 8)
    row_kernel[(2,)](x, torch.empty_like(x), 8, BLOCK=8)
