"""max(x, 0): the smallest task there is."""

import numpy as np

SHAPE = (256, 1024)


class Model:
    def __call__(self, x):
        return np.maximum(x, 0)


def get_inputs():
    return [np.random.randn(*SHAPE).astype(np.float32)]


def get_init_inputs():
    return []
