"""Over every choice of axes, also of what lies apart in memory."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, p):
        t = x.permute(2, 0, 1)
        return (x.sum(),
                x.sum(0),
                x.sum(1),
                x.sum(2),
                x.sum((0, 2)),
                x.sum((0, 1), keepdim=True),
                x.mean(),
                x.mean(1),
                x.mean((1, 2)),
                x.prod(2),
                p.prod(),
                x.amax(0),
                x.amin((1, 2)),
                x.max(1)[0],
                x.max(1)[1],
                x.min(0)[1],
                x.argmax(),
                x.argmax(2),
                x.argmin(1, keepdim=True),
                x.var(),
                x.var(1),
                x.var(2, correction=0),
                x.std(0),
                x.std((1, 2)),
                x.norm(),
                x.norm(1, dim=1),
                x.norm(dim=2),
                x.norm(float('inf'), dim=0),
                torch.norm(x, p=3, dim=1),
                torch.logsumexp(x, 1),
                torch.logsumexp(x, (0, 2)),
                (x > 2).any(),
                (x > 0).any(1),
                (x > -9).all(2),
                t.sum(1),
                t.amax(2),
                (x * x).sum(1).sqrt(),
                x.sum(1).mean(),
                torch.var_mean(x, 1)[0],
                x.abs().sum((0, 1, 2)),
                (x - x.mean(1, keepdim=True)).sum(2),
                torch.count_nonzero(x > 0, 1),
                torch.linalg.norm(x[0]),
                torch.nanmean(x, 1))


def get_inputs():
    return [torch.randn(6, 17, 37),
            torch.rand(31) + 0.5]


def get_init_inputs():
    return []
