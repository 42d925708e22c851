"""Every activation, on sizes that fill no vector."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, w):
        return (torch.relu(x),
                F.relu6(x * 4),
                torch.sigmoid(x),
                torch.tanh(x),
                F.gelu(x),
                F.gelu(x, approximate='tanh'),
                F.silu(x),
                F.mish(x),
                F.elu(x, 0.7),
                F.selu(x),
                F.celu(x, 1.3),
                F.leaky_relu(x, 0.2),
                F.hardtanh(x, -0.5, 0.8),
                F.hardsigmoid(x * 3),
                F.hardswish(x * 3),
                F.softplus(x),
                F.softplus(x, 2.0, 1.0),
                F.softsign(x),
                F.softshrink(x, 0.3),
                F.hardshrink(x, 0.4),
                F.tanhshrink(x + 5),
                F.logsigmoid(x),
                F.threshold(x, 0.1, -2.0),
                F.glu(x[:, :6], 1),
                torch.abs(x),
                -x,
                torch.sign(x),
                F.prelu(x, w))


def get_inputs():
    return [torch.randn(5, 7, 13),
            torch.rand(7)]


def get_init_inputs():
    return []
