"""Gamma correction of bytes: 256 possible inputs."""

import numpy as np


class Model:
    def __call__(self, pixels):
        return np.power(pixels.astype(np.float32) / 255, 2.2)


def get_inputs():
    return [np.random.randint(0, 256, (31, 45)).astype(np.uint8)]


def get_init_inputs():
    return []
