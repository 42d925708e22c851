"""Scaled scores, a padding mask and softmax: the middle of attention."""

import torch
import torch.nn as nn

BATCH = 8
HEADS = 4
LENGTH = 192


class Model(nn.Module):
    def forward(self, scores, mask):
        scores = (scores * 0.125).masked_fill(mask[:, None, None, :], float("-inf"))
        return torch.softmax(scores, dim=-1)


def get_inputs():
    mask = torch.arange(LENGTH) >= torch.randint(LENGTH // 2, LENGTH + 1, (BATCH, 1))
    return [torch.randn(BATCH, HEADS, LENGTH, LENGTH) * 4, mask]


def get_init_inputs():
    return []
