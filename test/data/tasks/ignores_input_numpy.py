"""Unfit: the second input and one parameter do not matter."""

import numpy as np


class Model:
    def __init__(self, n):
        self.used = np.random.rand(n).astype(np.float32)
        self.unused = np.random.rand(n).astype(np.float32)

    def __call__(self, x, y):
        return x * self.used


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32) for _ in range(2)]


def get_init_inputs():
    return [16]
