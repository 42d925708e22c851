"""Row-wise softmax of a few rows: small, so that what is measured is the judging, not Triton's interpreter."""

import torch
import torch.nn as nn

ROWS = 4
COLUMNS = 128


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
