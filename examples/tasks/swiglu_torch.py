"""SwiGLU: two products of one input, silu of one times the other, and a product back."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 128
FEATURES = 384
HIDDEN = 1024


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.gate = nn.Linear(features, hidden, bias=False)
        self.up = nn.Linear(features, hidden, bias=False)
        self.down = nn.Linear(hidden, features, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES, HIDDEN]
