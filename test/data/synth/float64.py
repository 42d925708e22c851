"""The same in double precision."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, y):
        return (torch.exp(x),
                torch.tanh(x) * y,
                F.gelu(x),
                torch.softmax(x, 1),
                x.sum(0),
                x.var(1),
                F.layer_norm(x, (33,)).abs() + 1,
                x @ y.t(),
                torch.cumsum(x, 1),
                torch.sort(x, 1)[0],
                torch.log1p(x.abs()),
                F.avg_pool1d(x.unsqueeze(0), 3))


def get_inputs():
    return [torch.randn(9, 33, dtype=torch.float64),
            torch.randn(9, 33, dtype=torch.float64)]


def get_init_inputs():
    return []
