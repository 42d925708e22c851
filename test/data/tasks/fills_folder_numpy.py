"""Fit: it leaves files beside the result."""

import numpy as np


class Model:
    def __call__(self, x):
        with open("out/stranger", "w") as file:
            file.write("hello")
        return x * 2


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
