"""Scaled dot-product attention, with and without masks."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, q, k, v, m):
        scores = q @ k.transpose(-2, -1) / 4.0
        return (F.scaled_dot_product_attention(q, k, v),
                F.scaled_dot_product_attention(q, k, v, is_causal=True),
                F.scaled_dot_product_attention(q, k, v, attn_mask=m),
                F.scaled_dot_product_attention(q, k, v, attn_mask=m > -0.5),
                torch.softmax(scores, -1) @ v,
                torch.relu(scores) @ v)


def get_inputs():
    return [torch.randn(2, 3, 19, 16),
            torch.randn(2, 3, 19, 16),
            torch.randn(2, 3, 19, 8),
            torch.randn(19, 19)]


def get_init_inputs():
    return []
