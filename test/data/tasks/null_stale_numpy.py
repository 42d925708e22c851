"""Unfit: it depends on positions only, so that an earlier answer is right."""

import numpy as np


class Model:
    def __call__(self, x):
        return np.cos(np.arange(x.size, dtype=np.float32)).reshape(x.shape) + x * np.float32(1e-12)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
