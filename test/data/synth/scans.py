"""Running sums and their kin, also reversed, exclusive and masked."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, p):
        return (torch.cumsum(x, 0),
                torch.cumsum(x, 1),
                torch.cumsum(x, 2),
                torch.cumprod(p, 2),
                torch.cumprod(p, 0),
                torch.cumsum(x.flip(1), 1).flip(1),
                torch.cumsum(x[:, :1] * 2, 1),
                torch.cumsum(torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1), 1),
                torch.cumsum(x * (x > 0), 2),
                torch.logcumsumexp(x, 2),
                torch.cummax(x, 1)[0],
                torch.cummin(x, 2)[0],
                torch.cumsum(x, 2) / torch.arange(1, 42),
                torch.cumsum(torch.softmax(x, 2), 2))


def get_inputs():
    return [torch.randn(5, 13, 41),
            torch.rand(5, 13, 41) * 0.5 + 0.75]


def get_init_inputs():
    return []
