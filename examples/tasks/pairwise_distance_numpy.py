"""Distances between all rows of two sets, by the product of them."""

import numpy as np

LEFT = 200
RIGHT = 300
FEATURES = 64


class Model:
    def __call__(self, a, b):
        squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2 * (a @ b.T)
        return np.sqrt(np.maximum(squares, 0))


def get_inputs():
    return [np.random.randn(LEFT, FEATURES), np.random.randn(RIGHT, FEATURES)]


def get_init_inputs():
    return []
