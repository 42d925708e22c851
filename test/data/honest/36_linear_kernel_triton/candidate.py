"""A linear layer with its parameters."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear_kernel(x, w, b, y, K, N, BLOCK_K: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    line = tl.load(x + row * K + k, mask=k < K, other=0.0)
    tile = tl.load(w + n[:, None] * K + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0.0)
    tl.store(y + row * N + n, tl.sum(tile * line[None, :], axis=1) + tl.load(b + n, mask=n < N), mask=n < N)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        weight, bias = self.linear.weight, self.linear.bias
        y = torch.empty((x.shape[0], weight.shape[0]), dtype=x.dtype, device=x.device)
        linear_kernel[(x.shape[0],)](x, weight, bias, y, x.shape[1], weight.shape[0], BLOCK_K=32, BLOCK_N=32)
        return y
