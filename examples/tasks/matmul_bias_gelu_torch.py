"""Linear layer and GELU: the activation belongs into the product."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 256
INNER = 512
COLUMNS = 1024


class Model(nn.Module):
    def __init__(self, inner, columns):
        super().__init__()
        self.linear = nn.Linear(inner, columns)

    def forward(self, x):
        return F.gelu(self.linear(x))


def get_inputs():
    return [torch.randn(ROWS, INNER)]


def get_init_inputs():
    return [INNER, COLUMNS]
