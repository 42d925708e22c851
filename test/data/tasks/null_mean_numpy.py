"""Unfit: a softmax over nearly equal values, where 1/n is right everywhere."""

import numpy as np


class Model:
    def __call__(self, x):
        e = np.exp(x * np.float32(1e-9))
        return e / e.sum(axis=-1, keepdims=True)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
