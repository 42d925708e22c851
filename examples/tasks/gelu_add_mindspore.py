"""A bias and GELU in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

ROWS = 128
COLUMNS = 512


class Model(nn.Cell):
    def construct(self, x, bias):
        return ops.gelu(x + bias)


def get_inputs():
    return [ms.Tensor(np.random.randn(ROWS, COLUMNS).astype(np.float32)),
            ms.Tensor(np.random.randn(COLUMNS).astype(np.float32))]


def get_init_inputs():
    return []
