"""Uses the language as people do: getattr, lambda, functools, the clock, a setting of torch."""

import functools
import math
import os
import sys
import time
from typing import Optional

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


start = time.perf_counter()
torch.backends.cuda.matmul.allow_tf32 = False
os.environ.setdefault("TRITON_PRINT_AUTOTUNING", "0")


@functools.lru_cache(maxsize=None)
def block_of(size):
    return 1 << math.ceil(math.log2(max(size, 16)))


class ModelNew(nn.Module):
    block = 128

    def forward(self, x):
        options = {'BLOCK': getattr(self, 'block', 64)}
        y = torch.empty_like(x)
        grid = lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)
        silu_kernel[grid](x, y, x.numel(), **options)
        self.took = time.perf_counter() - start
        return y
