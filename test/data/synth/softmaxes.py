"""Along the last axis, a middle one and the first; then more of it."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, y):
        return (torch.softmax(x, -1),
                torch.softmax(x, 1),
                torch.softmax(x, 0),
                torch.log_softmax(x, -1),
                torch.log_softmax(x, 1),
                F.softmin(x, 2),
                torch.softmax(x * 3 + y, 2),
                torch.softmax(x.transpose(1, 2), -1),
                (torch.softmax(x, 2) * y).sum(2),
                -(torch.softmax(x, 1) * torch.log_softmax(x, 1)).sum(1),
                torch.softmax(torch.relu(x), 2) + x)


def get_inputs():
    return [torch.randn(4, 19, 67),
            torch.randn(19, 67)]


def get_init_inputs():
    return []
