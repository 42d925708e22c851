"""Python numbers among the inputs, which kerf hands over in host memory."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, scale, shift, rows):
        return x * scale, torch.exp(x * scale) + shift, x.sum(1) / scale, rows * shift


def get_inputs():
    return [torch.randn(33, 65), 3.14, -0.5, torch.randn(4099)]


def get_init_inputs():
    return []
