"""Scaled dot-product attention with a causal mask in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

HEADS = 4
LENGTH = 128
WIDTH = 64


class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mask = ms.Tensor(np.tril(np.ones((LENGTH, LENGTH), np.bool_)))

    def construct(self, query, key, value):
        scores = ops.matmul(query, key.swapaxes(-2, -1)) * WIDTH**-0.5
        scores = ops.masked_fill(scores, ops.logical_not(self.mask), float("-inf"))
        return ops.matmul(ops.softmax(scores, axis=-1), value)


def get_inputs():
    return [ms.Tensor(np.random.randn(HEADS, LENGTH, WIDTH).astype(np.float32)) for _ in range(3)]


def get_init_inputs():
    return []
