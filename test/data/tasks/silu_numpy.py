"""x / (1 + exp(-x)): small, and no multiple of any vector width."""

import numpy as np


class Model:
    def __call__(self, x):
        return x / (1 + np.exp(-x))


def get_inputs():
    return [np.random.randn(24, 37).astype(np.float32)]


def get_init_inputs():
    return []
