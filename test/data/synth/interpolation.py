"""Nearest, linear and cubic."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return (F.interpolate(x, scale_factor=2),
                F.interpolate(x, size=(5, 9), mode='nearest'),
                F.interpolate(x, scale_factor=2, mode='bilinear'),
                F.interpolate(x, size=(11, 5), mode='bilinear', align_corners=True),
                F.interpolate(x, scale_factor=1.5, mode='bicubic'),
                F.interpolate(x[:, :, 0], scale_factor=2, mode='linear'),
                F.interpolate(x, size=(3, 4), mode='area'),
                F.interpolate(x, size=(6, 6), mode='nearest-exact'),
                F.upsample(x, scale_factor=3) * 2,
                F.pixel_unshuffle(x[:, :, :6, :8], 2))


def get_inputs():
    return [torch.rand(2, 3, 7, 8)]


def get_init_inputs():
    return []
