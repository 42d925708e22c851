"""Doubtful: it writes into its input."""

import numpy as np


class Model:
    def __call__(self, x):
        x += 1
        return x * 2


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
