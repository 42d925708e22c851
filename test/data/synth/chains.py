"""Longer chains, as layers of a model."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(24)
        self.up = nn.Linear(24, 50)
        self.down = nn.Linear(50, 24)
        self.w = nn.Parameter(torch.randn(4, 1, 3, 3))
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x):
        h = F.gelu(self.up(self.norm(x)))
        y = x + self.down(h)
        z = torch.softmax(y @ y.transpose(1, 2) / 5, -1) @ y
        g = self.bn(F.conv2d(y.reshape(2, 1, 21, 24), self.w, padding=1))
        return (y,
                z,
                torch.relu(g) + g.mean((2, 3), keepdim=True),
                F.max_pool2d(torch.sigmoid(g), 2),
                (z - z.mean(2, keepdim=True)) / (z.std(2, keepdim=True) + 1e-5),
                torch.clamp(torch.logsumexp(z * 2, 2) * 0.5, -1, 1),
                F.normalize(F.relu(x), dim=2).sum(1),
                torch.cumsum(F.relu(x) * 2, 1).amax(2))


def get_inputs():
    return [torch.randn(2, 21, 24)]


def get_init_inputs():
    return []
