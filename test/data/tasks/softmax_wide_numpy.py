"""Row-wise softmax of values so large that exp() of them overflows."""

import numpy as np


class Model:
    def __call__(self, x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


def get_inputs():
    return [(60 * np.random.randn(16, 65)).astype(np.float32)]


def get_init_inputs():
    return []
