"""Maximum and where it is, over a dimension in the middle."""

import torch
import torch.nn as nn

BATCH = 16
MIDDLE = 384
COLUMNS = 512


class Model(nn.Module):
    def forward(self, x):
        values, places = torch.max(x, dim=1)
        return values, places


def get_inputs():
    return [torch.randn(BATCH, MIDDLE, COLUMNS)]


def get_init_inputs():
    return []
