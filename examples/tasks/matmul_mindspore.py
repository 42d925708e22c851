"""A product of matrices in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

ROWS = 128
INNER = 256
COLUMNS = 96


class Model(nn.Cell):
    def construct(self, a, b):
        return ops.matmul(a, b)


def get_inputs():
    return [ms.Tensor(np.random.randn(ROWS, INNER).astype(np.float32)),
            ms.Tensor(np.random.randn(INNER, COLUMNS).astype(np.float32))]


def get_init_inputs():
    return []
