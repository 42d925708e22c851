"""The mean of each row of a softmax, which is 1 / columns whatever the input."""

import numpy as np


class Model:
    def __call__(self, x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return (e / e.sum(axis=-1, keepdims=True)).mean(axis=-1)


def get_inputs():
    return [np.random.randn(16, 65).astype(np.float32)]


def get_init_inputs():
    return []
