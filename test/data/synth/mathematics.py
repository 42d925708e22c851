"""Functions of one number, where they are defined."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, p, q):
        return (torch.exp(x),
                torch.exp2(x),
                torch.expm1(x * 0.1),
                torch.log(p),
                torch.log2(p),
                torch.log10(p),
                torch.log1p(p),
                torch.sqrt(p),
                torch.rsqrt(p),
                torch.sin(x * 20),
                torch.cos(x * 20),
                torch.tan(x),
                torch.asin(q),
                torch.acos(q),
                torch.atan(x),
                torch.sinh(x),
                torch.cosh(x),
                torch.asinh(x),
                torch.acosh(1 + p),
                torch.atanh(q),
                torch.erf(x),
                torch.erfc(x),
                torch.erfinv(q),
                torch.lgamma(p),
                torch.floor(x * 3),
                torch.ceil(x * 3),
                torch.round(x * 3),
                torch.trunc(x * 3),
                torch.frac(x * 3),
                torch.reciprocal(p),
                torch.square(x),
                torch.logit(p / 4, 1e-3),
                torch.nan_to_num(torch.log(x)),
                torch.rad2deg(x))


def get_inputs():
    return [torch.randn(5, 7, 13),
            torch.rand(5, 7, 13) * 3 + 0.01,
            torch.rand(5, 7, 13) * 1.9 - 0.95]


def get_init_inputs():
    return []
