"""Two outputs."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return x + y, x * y


def get_inputs():
    return [torch.randn(12, 25), torch.randn(12, 25)]


def get_init_inputs():
    return []
