"""Projection into heads with einsum."""

import torch
import torch.nn as nn

BATCH = 4
LENGTH = 100
FEATURES = 256
HEADS = 8
DEPTH = 32


class Model(nn.Module):
    def __init__(self, features, heads, depth):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features, heads, depth) / features**0.5)

    def forward(self, x):
        return torch.einsum("blf,fhd->bhld", x, self.weight)


def get_inputs():
    return [torch.randn(BATCH, LENGTH, FEATURES)]


def get_init_inputs():
    return [FEATURES, HEADS, DEPTH]
