"""Unusable: it needs a package that does not exist."""

import numpy as np
import a_package_that_is_not_there


class Model:
    def __call__(self, x):
        return a_package_that_is_not_there.f(x)


def get_inputs():
    return [np.ones(4)]


def get_init_inputs():
    return []
