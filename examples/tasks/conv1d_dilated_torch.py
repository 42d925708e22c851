"""A causal convolution in one dimension, dilated, with a strided copy of the input added."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 24
LENGTH = 1000
DILATION = 4


class Model(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, dilation=dilation)
        self.dilation = dilation

    def forward(self, x):
        return x + self.conv(F.pad(x, (2 * self.dilation, 0)))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [CHANNELS, DILATION]
