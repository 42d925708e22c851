"""Fit: every kind of argument and output at once."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, scale=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, dtype=torch.bfloat16))
        self.table = torch.arange(width)  # neither parameter nor buffer
        self.scale = scale

    def forward(self, x, parts, mask, k, flags=None, name="x"):
        y = (x * self.weight.float() * self.scale + parts[0] - parts[1].half()) * k
        y = torch.where(mask, y, self.table.float())
        return {"y": y.t(), "pair": (y.sum().item(), y.to(torch.bfloat16)), "index": y.argmax(dim=-1), "none": None}


def get_inputs():
    return {"x": torch.randn(4, 6), "parts": [torch.randn(6), torch.randn(4, 6)], "mask": torch.rand(4, 6) > 0.3,
            "k": 3, "flags": None, "name": "y"}


def get_init_inputs():
    return [[6], {"scale": 0.5}]
