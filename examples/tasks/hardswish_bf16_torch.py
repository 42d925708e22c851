"""Hard swish in bfloat16: a kernel may compute wider, and must round once."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPE = (256, 1000)


class Model(nn.Module):
    def forward(self, x):
        return F.hardswish(x)


def get_inputs():
    return [torch.randn(*SHAPE).to(torch.bfloat16) * 4]


def get_init_inputs():
    return []
