"""Whole numbers and truth values."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, a, b, c, x):
        return (a + b,
                a - b,
                a * b,
                a // c,
                torch.div(a, c, rounding_mode='trunc'),
                a % c,
                torch.fmod(a, c),
                a / c,
                a & b,
                a | b,
                a ^ b,
                ~a,
                a << 2,
                a >> 1,
                a == b,
                a != b,
                a < b,
                a <= b,
                a > b,
                a >= b,
                (a > 0) & (b > 0),
                (a > 0) | (b > 0),
                torch.logical_xor(a, b),
                torch.logical_not(a),
                -a,
                torch.abs(a),
                torch.sign(a),
                a ** 2,
                torch.clamp(a, -3, 3),
                a.float() * 0.5,
                a.to(torch.int32) + 1,
                a.to(torch.int8) * 3,
                (a > 0).sum(1),
                a.sum(0),
                a.max(1)[0],
                a.argmin(0),
                (a > 5).any(1),
                (a > -99).all(1),
                a.prod(1),
                torch.cumsum(a, 0),
                (x * 3).to(torch.int64),
                (x > 0).to(torch.float32),
                torch.maximum(a, b))


def get_inputs():
    return [torch.randint(-9, 10, (11, 6)),
            torch.randint(-9, 10, (11, 6)),
            torch.randint(1, 6, (11, 6)),
            torch.randn(11, 6)]


def get_init_inputs():
    return []
