"""Maximum, mean and adaptive, in one to three axes."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x1, x2, x3):
        return (F.max_pool1d(x1, 3),
                F.max_pool1d(x1, 4, 2, 1, 2),
                F.max_pool2d(x2, 2),
                F.max_pool2d(x2, 3, 2, 1),
                F.max_pool2d(x2, (3, 2), (1, 2), (1, 0), (2, 1)),
                F.max_pool2d(x2, 3, 2, ceil_mode=True),
                F.max_pool2d(x2, 3, 2, 1, return_indices=True)[1],
                F.max_pool3d(x3, 2),
                F.avg_pool1d(x1, 3, 2, 1),
                F.avg_pool2d(x2, 3, 2, 1),
                F.avg_pool2d(x2, 3, 2, 1, count_include_pad=False),
                F.avg_pool2d(x2, 3, 2, ceil_mode=True),
                F.avg_pool2d(x2, 2, divisor_override=3),
                F.avg_pool3d(x3, 3, 1, 1),
                F.adaptive_avg_pool1d(x1, 5),
                F.adaptive_avg_pool2d(x2, 1),
                F.adaptive_avg_pool2d(x2, (3, 4)),
                F.adaptive_max_pool2d(x2, (3, 2)),
                F.adaptive_avg_pool3d(x3, 2),
                F.lp_pool2d(x2.abs(), 2, 2),
                F.max_pool2d(torch.relu(x2), 2) + 1)


def get_inputs():
    return [torch.randn(3, 4, 29),
            torch.randn(2, 3, 13, 17),
            torch.randn(2, 3, 7, 8, 9)]


def get_init_inputs():
    return []
