"""A product of two matrices that takes long enough to be timed."""

import numpy as np


class Model:
    def __call__(self, a, b):
        return a @ b


def get_inputs():
    return [np.random.randn(192, 192).astype(np.float32), np.random.randn(192, 192).astype(np.float32)]


def get_init_inputs():
    return []
