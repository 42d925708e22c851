"""Vectors, matrices, batches, transposed and thin."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(23, 31)

    def forward(self, a, b, c, d, e, g, u, v):
        return (a @ b,
                a.t() @ a,
                a @ a.t(),
                a @ u,
                torch.dot(u, u),
                torch.outer(u, v),
                torch.bmm(c, d),
                torch.matmul(c, d[0]),
                torch.matmul(e, d),
                self.linear(a),
                torch.relu(self.linear(a) + 1),
                torch.addmm(g, a, b, beta=0.5, alpha=2),
                torch.baddbmm(c @ d, c, d),
                torch.einsum('bij,bjk->bik', c, d),
                torch.einsum('ij,kj->ik', a, a),
                torch.tril(a @ b),
                torch.diag(v) @ a,
                a[:, :1] @ b[:1],
                (a * 2) @ torch.relu(b),
                torch.tensordot(a, b, dims=1),
                torch.linalg.multi_dot([a, b, g.t()]),
                torch.kron(a[:2, :3], b[:2, :2]),
                c.transpose(1, 2) @ c,
                v @ a,
                v[:7] @ c,
                torch.matmul(c.transpose(-1, -2), v[:7]),
                torch.matmul(e.transpose(-1, -2), v[:7]))


def get_inputs():
    return [torch.randn(17, 23),
            torch.randn(23, 9),
            torch.randn(3, 7, 19),
            torch.randn(3, 19, 5),
            torch.randn(2, 3, 7, 19),
            torch.randn(17, 9),
            torch.randn(23),
            torch.randn(17)]


def get_init_inputs():
    return []
