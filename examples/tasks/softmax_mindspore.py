"""Row-wise softmax in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

ROWS = 64
COLUMNS = 512


class Model(nn.Cell):
    def construct(self, x):
        return ops.softmax(x, axis=-1)


def get_inputs():
    return [ms.Tensor(np.random.randn(ROWS, COLUMNS).astype(np.float32))]


def get_init_inputs():
    return []
