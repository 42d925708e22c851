"""Sorted values and their places; the largest k."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return (torch.sort(x, -1)[0],
                torch.sort(x, -1)[1],
                torch.sort(x, 0, descending=True)[0],
                torch.argsort(x, 1),
                torch.topk(x, 5)[0],
                torch.topk(x, 5)[1],
                torch.topk(x, 3, 1, largest=False)[0],
                torch.msort(x[0]),
                torch.sort(x * 2, 2)[0][..., 3],
                torch.topk(x.abs(), 1, 2)[0].sum())


def get_inputs():
    return [torch.randn(4, 9, 31)]


def get_init_inputs():
    return []
