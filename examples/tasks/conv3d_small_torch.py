"""A convolution in three dimensions."""

import torch
import torch.nn as nn

BATCH = 2
CHANNELS_IN = 4
CHANNELS_OUT = 8
DEPTH = 12
SIZE = 32


class Model(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv3d(channels_in, channels_out, (3, 5, 5), stride=(1, 2, 2), padding=(1, 2, 2))

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS_IN, DEPTH, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS_IN, CHANNELS_OUT]
