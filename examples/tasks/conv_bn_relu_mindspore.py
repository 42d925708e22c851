"""A convolution, a batch norm with stored statistics and ReLU in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

IMAGES = 2
CHANNELS = 16
FILTERS = 32
SIDE = 32


class Model(nn.Cell):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3)
        self.norm = nn.BatchNorm2d(filters)

    def construct(self, x):
        return ops.relu(self.norm(self.conv(x)))


def get_inputs():
    return [ms.Tensor(np.random.randn(IMAGES, CHANNELS, SIDE, SIDE).astype(np.float32))]


def get_init_inputs():
    return [CHANNELS, FILTERS]
