"""Attention for one head in einsum."""

import numpy as np

LENGTH = 150
DEPTH = 48


class Model:
    def __call__(self, q, k, v):
        scores = np.einsum("qd,kd->qk", q, k) / DEPTH**0.5
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.einsum("qk,kd->qd", scores / scores.sum(axis=1, keepdims=True), v)


def get_inputs():
    return [np.random.randn(LENGTH, DEPTH).astype(np.float32) for _ in range(3)]


def get_init_inputs():
    return []
