"""Unfit: it draws while it runs."""

import numpy as np


class Model:
    def __call__(self, x):
        return x + np.random.rand(8, 16).astype(np.float32)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
