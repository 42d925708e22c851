"""Two operands, with broadcasting in every direction."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, y, z, s, p):
        return (x + y,
                x - y,
                x * y,
                x / (y.abs() + 0.5),
                torch.add(x, y, alpha=2),
                torch.sub(x, y, alpha=3),
                1.5 - x,
                2 / (x.abs() + 1),
                x ** 2,
                x ** 3,
                p ** 0.5,
                p ** 1.7,
                p ** y,
                2.0 ** x,
                torch.remainder(x, 0.7),
                torch.fmod(x, 0.7),
                torch.floor_divide(x, 0.3),
                torch.div(x, y.abs() + 0.5, rounding_mode='trunc'),
                torch.maximum(x, y),
                torch.minimum(x, y),
                torch.fmax(x, y),
                torch.fmin(x, y),
                torch.atan2(x, y),
                torch.hypot(x, y),
                torch.copysign(x, y),
                torch.clamp(x, -0.5, 0.5),
                torch.clamp(x, min=0.1),
                torch.clamp(x, max=y),
                torch.lerp(x, y.expand(5, 7, 13), 0.3),
                torch.addcmul(x, p, y, value=0.5),
                torch.addcdiv(x, y, p, value=0.5),
                torch.where(x > y, x, y * 2),
                x.masked_fill(x > 0, -1.0),
                x + z + s,
                z * y)


def get_inputs():
    return [torch.randn(5, 7, 13),
            torch.randn(7, 13),
            torch.randn(5, 1, 13),
            torch.randn(()),
            torch.rand(5, 7, 13) + 0.1]


def get_init_inputs():
    return []
