"""Counts what a torch model calculates, from the shapes of its operations."""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten


def product_work(args):
    first, second = args[-2:]
    return 2 * math.prod(first.shape) * second.shape[-1]


def convolution_work(args, result):
    weight, transposed = args[1], args[6]
    taps = math.prod(weight.shape[1:])
    return 2 * taps * (math.prod(args[0].shape) if transposed else math.prod(result.shape))


class WorkMode(TorchDispatchMode):
    """`work` in multiplications and additions of products; `largest` is the largest tensor any operation made."""

    def __init__(self):
        super().__init__()
        self.work, self.largest = 0.0, 0

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # see graph_torch.py

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func in (aten.mm.default, aten.bmm.default, aten.addmm.default, aten.baddbmm.default):
            self.work += product_work(args)
        elif func is aten.convolution.default:
            self.work += convolution_work(args, result)
        elif func.overloadpacket is aten._scaled_dot_product_flash_attention_for_cpu:
            self.work += 4 * math.prod(args[0].shape) * args[1].shape[-2]
        for tensor in result if isinstance(result, (list, tuple)) else [result]:
            if isinstance(tensor, torch.Tensor):
                self.largest = max(self.largest, tensor.numel() * tensor.element_size())
        return result
