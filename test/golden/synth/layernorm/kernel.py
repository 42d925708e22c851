"""Written by kerf's synthesizer: 3 operations in 1 kernel. Sizes are part of the kernels."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def step1_add_kernel(input0, norm_weight, norm_bias, add):
    # sum for the mean, mean, sum of squared distances from the mean, inverse deviation, aten.add.Tensor
    # line 12: return F.gelu(self.norm(x)) + x
    row = (tl.program_id(0) * 32 + tl.arange(0, 32))[:, None]
    sum_for_the_mean_acc = tl.full([32, 128], 0.0, tl.float32)
    col = tl.arange(0, 128)[None, :]
    sum_for_the_mean_acc += tl.where((col < 96), tl.load(input0 + row * 96 + col, mask=(col < 96), other=0), 0.0)
    sum_for_the_mean_value = tl.sum(sum_for_the_mean_acc, axis=1)[:, None].to(tl.float32)
    mean_value = sum_for_the_mean_value / 96.0
    sum_of_squared_distances_from_the_mean_acc = tl.full([32, 128], 0.0, tl.float32)
    col = tl.arange(0, 128)[None, :]
    v0 = tl.load(input0 + row * 96 + col, mask=(col < 96), other=0) - mean_value
    sum_of_squared_distances_from_the_mean_acc += tl.where((col < 96), v0 * v0, 0.0)
    sum_of_squared_distances_from_the_mean_value = tl.sum(sum_of_squared_distances_from_the_mean_acc, axis=1)[:, None].to(tl.float32)
    inverse_deviation_value = 1.0 / tl.sqrt_rn((sum_of_squared_distances_from_the_mean_value / 96.0) + 1e-05)
    col = tl.arange(0, 128)[None, :]
    v1 = tl.load(input0 + row * 96 + col, mask=(col < 96), other=0)
    v2 = ((v1 - mean_value) * inverse_deviation_value) * tl.load(norm_weight + col, mask=(col < 96), other=0)
    v3 = v2 + tl.load(norm_bias + col, mask=(col < 96), other=0)
    tl.store(add + row * 96 + col, ((v3 * 0.5) * (1.0 + tl.erf(v3 * 0.70710678))) + v1, mask=(col < 96))


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
        hold(self, "norm.weight", torch.empty((96,), dtype=torch.float32))
        hold(self, "norm.bias", torch.empty((96,), dtype=torch.float32))

    def forward(self, *inputs):
        input0 = inputs[0].contiguous()
        assert input0.shape == (32, 96), "sizes are part of the kernels"
        norm_weight = self.norm.weight.contiguous()
        norm_bias = self.norm.bias.contiguous()
        add = torch.empty((32, 96), dtype=torch.float32, device=input0.device)
        step1_add_kernel[(1, )](input0, norm_weight, norm_bias, add)
        return add
