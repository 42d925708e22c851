"""Fit: it prints a lot, which is nobody's data."""

import numpy as np


class Model:
    def __call__(self, x):
        for _ in range(2000):
            print("x" * 100000)
        return x * 2


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
