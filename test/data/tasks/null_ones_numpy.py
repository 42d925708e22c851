"""Unfit: the output is one whatever the input."""

import numpy as np


class Model:
    def __call__(self, x):
        return np.exp(x - x)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
