"""Layer, group, batch, instance and RMS norm, L1 and L2."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LayerNorm((6, 9, 11))
        self.group = nn.GroupNorm(2, 6)
        self.batch = nn.BatchNorm2d(6)
        self.instance = nn.InstanceNorm2d(6, affine=True)

    def forward(self, x):
        rms = x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-5)
        return (self.layer(x),
                F.layer_norm(x, (9, 11)),
                self.group(x),
                self.batch(x),
                self.instance(x),
                F.group_norm(x, 3),
                rms,
                F.normalize(x, dim=1),
                x / x.abs().mean(1, keepdim=True),
                x / torch.norm(x, p='fro'),
                F.rms_norm(x, (11,)),
                F.local_response_norm(x, 3),
                torch.relu(self.group(x) + x),
                self.layer(x + 1) * 2)


def get_inputs():
    return [torch.randn(4, 6, 9, 11)]


def get_init_inputs():
    return []
