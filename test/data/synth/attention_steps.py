"""Attention whose scores nobody else needs: each result is one step."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(24, 72)
        self.join = nn.Linear(24, 24)

    def heads(self, x):
        """Three heads of eight columns, read where they lie."""
        batch, length, _ = x.shape
        return (part.view(batch, length, 3, 8).transpose(1, 2) for part in self.project(x).split(24, dim=2))

    def forward(self, x, q, k, v, m, h):
        mine, theirs, values = self.heads(x)
        together = F.scaled_dot_product_attention(mine, theirs, values, is_causal=True)
        distance = torch.arange(19).unsqueeze(0) - torch.arange(19).unsqueeze(1)
        return (self.join(together.transpose(1, 2).reshape(2, 19, 24)),
                F.scaled_dot_product_attention(q, k, v),
                F.scaled_dot_product_attention(q + 1, k, v, attn_mask=m),
                F.scaled_dot_product_attention(q * 0.5, k, v, attn_mask=m > -0.3),
                F.scaled_dot_product_attention(q.half(), k.half(), v.half()).float(),
                F.scaled_dot_product_attention(q.double() + 2, k.double(), v.double()),
                F.scaled_dot_product_attention(q - 2, k[:, :1], v[:, :1]),
                torch.softmax(q[0, 0] @ k[0, 0].t() / math.sqrt(16), -1) @ v[0, 0],
                torch.softmax(torch.tanh((q - 1) @ k.transpose(-2, -1) / 30) * 30 + m, -1) @ v,
                torch.softmax((q + 3) @ k.transpose(-2, -1) - 0.1 * distance.abs(), -1) @ v,
                (h @ h.transpose(1, 2)).softmax(2) @ h)


def get_inputs():
    return [torch.randn(2, 19, 24),
            torch.randn(2, 3, 19, 16),
            torch.randn(2, 3, 33, 16)[:, :, :19],
            torch.randn(2, 3, 19, 8),
            torch.randn(19, 19) - 0.5,
            torch.randn(1, 300, 5)]


def get_init_inputs():
    return []
