"""Five points of a grid: an update in place of the inside, the border stays."""

import numpy as np

SIZE = 512


class Model:
    def __call__(self, u):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        return new


def get_inputs():
    return [np.random.randn(SIZE, SIZE).astype(np.float32)]


def get_init_inputs():
    return []
