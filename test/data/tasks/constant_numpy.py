"""Unfit: the output is the same whatever the input."""

import numpy as np


class Model:
    def __call__(self, x):
        return np.full((8, 16), 1.5, np.float32)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
