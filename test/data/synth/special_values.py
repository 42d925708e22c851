"""NaN, infinities and signed zeros travel as in torch."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, z):
        n = x / z
        return (torch.relu(n),
                torch.maximum(n, x),
                torch.minimum(n, x),
                torch.fmax(n, x),
                torch.amax(n, 1),
                torch.amin(n, 1),
                n.sum(1),
                torch.isnan(n),
                torch.isinf(n),
                torch.isfinite(n),
                torch.isposinf(n),
                torch.isneginf(n),
                torch.signbit(n),
                torch.sign(n),
                torch.clamp(n, -1, 1),
                torch.exp(n),
                torch.log(n),
                torch.tanh(n),
                torch.sigmoid(n),
                torch.sqrt(n),
                torch.erf(n),
                torch.sin(n),
                torch.softmax(torch.nan_to_num(n, posinf=3.0, neginf=-1e30), 1),
                torch.argmax(n, 1),
                torch.argmin(n, 1),
                torch.where(z == 0, x, n),
                torch.log1p(n),
                torch.expm1(n),
                F.gelu(n),
                F.softplus(n),
                torch.logsumexp(torch.where(torch.isnan(n), 0.0, n), 1))


def get_inputs():
    return [torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0])[torch.randint(0, 5, (9, 41))],
            torch.where(torch.rand(9, 41) < 0.02, 0.0, torch.randint(1, 4, (9, 41)).float())]


def get_init_inputs():
    return []
