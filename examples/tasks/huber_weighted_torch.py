"""Huber loss with a weight for each row, summed."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 512
COLUMNS = 300
DELTA = 0.7


class Model(nn.Module):
    def forward(self, x, y, weight):
        return (F.huber_loss(x, y, reduction="none", delta=DELTA) * weight[:, None]).sum(dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS), torch.rand(ROWS)]


def get_init_inputs():
    return []
