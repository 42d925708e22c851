"""A dense layer, a residual sum and a layer norm in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import nn

ROWS = 128
FEATURES = 256


class Model(nn.Cell):
    def __init__(self, features):
        super().__init__()
        self.dense = nn.Dense(features, features)
        self.norm = nn.LayerNorm((features,))

    def construct(self, x):
        return self.norm(x + self.dense(x))


def get_inputs():
    return [ms.Tensor(np.random.randn(ROWS, FEATURES).astype(np.float32))]


def get_init_inputs():
    return [FEATURES]
