"""Medians, searches and running extremes with their places."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, edges):
        best, place = torch.cummax(x, dim=1)
        middle, where = x.median(dim=1)
        return best, place, middle, where, torch.searchsorted(edges, x), torch.histc(x, 11, -2, 2), torch.cummin(x, 0)[1]


def get_inputs():
    return [torch.randn(17, 31), torch.sort(torch.randn(101)).values]


def get_init_inputs():
    return []
