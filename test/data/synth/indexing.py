"""Gathered and scattered by indices that are data."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 5)

    def forward(self, x, y, w, i, j, k):
        return (F.embedding(i, w),
                torch.gather(x, 1, k),
                torch.index_select(x, 0, i[0]),
                x[i[0], j],
                w[i],
                x[:, j],
                torch.take(x, k),
                torch.scatter(x, 1, k, 2.5),
                torch.scatter(x, 1, k[:, :1], y[:, :1]),
                torch.scatter_add(x, 1, k, y[:, :4]),
                torch.scatter_reduce(x, 1, k, y[:, :4], 'amax'),
                torch.index_add(x, 0, i[0], y[:7]),
                x.index_put((i[0], j), y[0, :7], accumulate=True),
                torch.slice_scatter(x, y[:, :3], 1, 2, 8, 2),
                torch.select_scatter(x, y[:, 0], 1, 3),
                self.table(i).sum(1),
                torch.where(x > 0, x, y).index_select(1, j),
                x[:, torch.tensor([3, -1, 0])])


def get_inputs():
    return [torch.randn(11, 10),
            torch.randn(11, 10),
            torch.randn(11, 6),
            torch.randint(0, 11, (3, 7)),
            torch.randint(0, 10, (7,)),
            torch.stack([torch.randperm(10)[:4] for _ in range(11)])]


def get_init_inputs():
    return []
