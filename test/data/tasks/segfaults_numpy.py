"""Unusable: it reads address 0."""

import numpy as np


class Model:
    def __call__(self, x):
        import ctypes
        ctypes.string_at(0)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
