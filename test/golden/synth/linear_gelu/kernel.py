"""Written by kerf's synthesizer: 4 operations in 1 kernel. Sizes are part of the kernels."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def step1_mul_kernel(input0, fc_weight, fc_bias, mul):
    # matrix product, aten.mul.Tensor
    # line 12: return F.gelu(self.fc(x)) * 0.5
    tile = tl.program_id(0)
    batch = tl.program_id(1)
    i = (tile // 1 * 64 + tl.arange(0, 64))[:, None]
    j = (tile % 1 * 64 + tl.arange(0, 64))[None, :]
    sums = tl.zeros([64, 64], tl.float32)
    for first in range(0, 72, 32):
        k = (first + tl.arange(0, 32))[None, :]
        a = tl.load(input0 + i * 72 + k, mask=(i < 100) & (k < 72), other=0)
        k = (first + tl.arange(0, 32))[:, None]
        b = tl.load(fc_weight + k + j * 72, mask=(k < 72) & (j < 48), other=0)
        sums = tl.dot(a, b, sums, input_precision="ieee")
    matrix_product_value = sums
    v0 = matrix_product_value + tl.load(fc_bias + j, mask=(j < 48), other=0)
    tl.store(mul + i * 48 + j, ((v0 * 0.5) * (1.0 + tl.erf(v0 * 0.70710678))) * 0.5, mask=(i < 100) & (j < 48))


def hold(module, name, tensor):
    """A place for part of the reference's state, under the same name."""
    *path, last = name.split(".")
    for part in path:
        if not hasattr(module, part):
            module.add_module(part, nn.Module())
        module = getattr(module, part)
    module.register_buffer(last, tensor)


class ModelNew(nn.Module):
    def __init__(self, *args):
        super().__init__()
        hold(self, "fc.weight", torch.empty((48, 72), dtype=torch.float32))
        hold(self, "fc.bias", torch.empty((48,), dtype=torch.float32))

    def forward(self, *inputs):
        input0 = inputs[0].contiguous()
        assert input0.shape == (100, 72), "sizes are part of the kernels"
        fc_weight = self.fc.weight.contiguous()
        fc_bias = self.fc.bias.contiguous()
        mul = torch.empty((100, 48), dtype=torch.float32, device=input0.device)
        step1_mul_kernel[(2, 1, )](input0, fc_weight, fc_bias, mul)
        return mul
