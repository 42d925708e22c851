"""Rotary position embedding: pairs of columns turned by angles that grow along the sequence."""

import torch
import torch.nn as nn

BATCH = 2
LENGTH = 256
HEADS = 8
DEPTH = 64


class Model(nn.Module):
    def __init__(self, length, depth):
        super().__init__()
        rate = 10000.0 ** (-torch.arange(0, depth, 2) / depth)
        angle = torch.arange(length)[:, None] * rate
        self.register_buffer("cos", angle.cos()[:, None, :])
        self.register_buffer("sin", angle.sin()[:, None, :])

    def forward(self, x):
        left, right = x.chunk(2, dim=-1)
        return torch.cat([left * self.cos - right * self.sin, right * self.cos + left * self.sin], dim=-1)


def get_inputs():
    return [torch.randn(BATCH, LENGTH, HEADS, DEPTH)]


def get_init_inputs():
    return [LENGTH, DEPTH]
