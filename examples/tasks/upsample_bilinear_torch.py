"""Bilinear interpolation to a size that is no multiple."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
CHANNELS = 16
SIZE = 40


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, size=(70, 91), mode="bilinear", align_corners=False)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return []
