"""Fit: one number, which is its own mean."""

import numpy as np


class Model:
    def __call__(self, x):
        return np.mean(np.square(x), dtype=np.float32)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
