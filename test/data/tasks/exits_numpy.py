"""Unusable: it leaves the interpreter as if all were well."""

import numpy as np


class Model:
    def __call__(self, x):
        import sys
        sys.exit(0)


def get_inputs():
    return [np.random.randn(8, 16).astype(np.float32)]


def get_init_inputs():
    return []
