"""Unusable: it looks for the user's keys."""

import numpy as np


class Model:
    def __call__(self, x):
        import os
        with open(os.path.expanduser("~root/.profile")) as file:
            return x + len(file.read())


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
