"""Two reductions of one tensor: the L2 norm and the mean of each row."""

import torch
import torch.nn as nn

ROWS = 1024
COLUMNS = 1500


class Model(nn.Module):
    def forward(self, x):
        return torch.linalg.vector_norm(x, dim=-1), x.mean(dim=-1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
