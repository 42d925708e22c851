"""The product of two lower triangles, of which half is zero."""

import torch
import torch.nn as nn

SIZE = 512


class Model(nn.Module):
    def forward(self, a, b):
        return torch.tril(a @ b)


def get_inputs():
    return [torch.tril(torch.randn(SIZE, SIZE)), torch.tril(torch.randn(SIZE, SIZE))]


def get_init_inputs():
    return []
