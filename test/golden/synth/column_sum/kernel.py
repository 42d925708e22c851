"""Written by kerf's synthesizer: 2 operations in 1 kernel. Sizes are part of the kernels."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def step1_sum_kernel(input0, sum):
    # sum
    # line 8: return torch.sum(x * x, dim=1)
    row = (tl.program_id(0) * 32 + tl.arange(0, 32))[:, None]
    i0 = row // 40
    i1 = row % 40
    sum_acc = tl.full([32, 128], 0.0, tl.float32)
    for start in range(0, 300, 128):
        col = (start + tl.arange(0, 128))[None, :]
        v0 = tl.load(input0 + i0 * 12000 + col * 40 + i1, mask=(col < 300), other=0)
        sum_acc += tl.where((col < 300), v0 * v0, 0.0)
    tl.store(sum + i0 * 40 + i1, tl.sum(sum_acc, axis=1)[:, None].to(tl.float32))


class ModelNew(nn.Module):
    def __init__(self, *args):
        super().__init__()

    def forward(self, *inputs):
        input0 = inputs[0].contiguous()
        assert input0.shape == (4, 300, 40), "sizes are part of the kernels"
        sum = torch.empty((4, 40), dtype=torch.float32, device=input0.device)
        step1_sum_kernel[(5, )](input0, sum)
        return sum
