"""A transposed convolution with stride 2, as decoders have it."""

import torch
import torch.nn as nn

BATCH = 4
CHANNELS_IN = 24
CHANNELS_OUT = 12
SIZE = 32


class Model(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.ConvTranspose2d(channels_in, channels_out, 4, stride=2, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS_IN, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS_IN, CHANNELS_OUT]
