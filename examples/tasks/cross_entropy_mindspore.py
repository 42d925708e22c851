"""Cross entropy of logits and classes in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

ROWS = 256
CLASSES = 1000


class Model(nn.Cell):
    def construct(self, logits, target):
        return ops.cross_entropy(logits, target)


def get_inputs():
    return [ms.Tensor(np.random.randn(ROWS, CLASSES).astype(np.float32)),
            ms.Tensor(np.random.randint(0, CLASSES, ROWS).astype(np.int32))]


def get_init_inputs():
    return []
