"""Doubtful: some outputs are infinite."""

import numpy as np


class Model:
    def __call__(self, x):
        return np.where(x > 1, np.float32(np.inf), x)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
