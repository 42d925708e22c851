"""Doubtful: every output lies within 0.01."""

import numpy as np


class Model:
    def __call__(self, x):
        return x * np.float32(1e-3)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
