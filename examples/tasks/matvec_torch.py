"""A matrix times a vector, which is all about memory."""

import torch
import torch.nn as nn

ROWS = 2048
COLUMNS = 4096


class Model(nn.Module):
    def forward(self, a, x):
        return a @ x


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(COLUMNS)]


def get_init_inputs():
    return []
