"""Max pooling whose windows overlap and reach into the padding."""

import torch
import torch.nn as nn

BATCH = 8
CHANNELS = 32
SIZE = 57


class Model(nn.Module):
    def __init__(self, kernel, stride, padding):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel, stride=stride, padding=padding)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [3, 2, 1]
