"""Unfit: a copy of the input is right."""

import numpy as np


class Model:
    def __call__(self, x):
        return np.clip(x, -100, 100)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
