"""A batch of products whose sizes are odd."""

import torch
import torch.nn as nn

BATCH = 17
ROWS = 65
INNER = 127
COLUMNS = 93


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.randn(BATCH, ROWS, INNER), torch.randn(BATCH, INNER, COLUMNS)]


def get_init_inputs():
    return []
