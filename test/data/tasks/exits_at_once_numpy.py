"""Unusable: it leaves the process without a word."""

import numpy as np


class Model:
    def __call__(self, x):
        import os
        os._exit(0)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
