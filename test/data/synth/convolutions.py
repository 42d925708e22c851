"""Stride, padding, dilation, groups, transposed; one to three axes."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(6, 8, 3, padding=1)
        self.b = nn.Conv2d(6, 8, (3, 2), stride=(2, 1), padding=(2, 0), dilation=(1, 2), bias=False)
        self.c = nn.Conv2d(6, 12, 3, groups=6)
        self.d = nn.Conv2d(6, 9, 3, groups=3, stride=2)
        self.e = nn.Conv1d(6, 5, 4, stride=2, dilation=2)
        self.f = nn.Conv3d(6, 4, 3, padding=1)
        self.g = nn.ConvTranspose2d(6, 5, 3, stride=2, padding=1, output_padding=1)
        self.h = nn.ConvTranspose2d(6, 4, 3, dilation=2, groups=2)
        self.i = nn.ConvTranspose1d(6, 5, 4, stride=3, dilation=2)
        self.j = nn.ConvTranspose3d(6, 4, 2, stride=2)
        # Padding that is a multiple of the stride, or more: outputs before the first input.
        self.m = nn.ConvTranspose3d(6, 4, (3, 5, 7), stride=2, padding=(1, 2, 3), output_padding=1, groups=2)
        self.n = nn.ConvTranspose2d(6, 4, 5, stride=3, padding=3, output_padding=1)
        self.o = nn.ConvTranspose1d(6, 5, 6, stride=2, padding=2, dilation=2)
        self.k = nn.Conv2d(6, 8, 1)
        self.l = nn.Conv2d(6, 8, 3, stride=3)

    def forward(self, x1, x2, x3, w):
        return (self.a(x2),
                self.b(x2),
                self.c(x2),
                self.d(x2),
                self.e(x1),
                self.f(x3),
                self.g(x2),
                self.h(x2),
                self.i(x1),
                self.j(x3),
                self.m(x3),
                self.n(x2),
                self.o(x1),
                torch.relu(self.a(x2)) + 1,
                self.k(x2),
                self.l(F.relu(x2)),
                F.conv2d(x2, w))


def get_inputs():
    return [torch.randn(2, 6, 31),
            torch.randn(2, 6, 13, 11),
            torch.randn(1, 6, 5, 6, 7),
            torch.randn(4, 6, 2, 2)]


def get_init_inputs():
    return []
