"""Other places of the same elements."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, y):
        return (x.permute(2, 0, 1) * 2,
                x.transpose(0, 2) + 1,
                x.reshape(35, 12),
                x.reshape(12, 35).t() * 3,
                x.flip(0),
                x.flip([1, 2]),
                x.roll(3, 1),
                x.roll([1, -2], [0, 2]),
                x.roll(5),
                x[:, 1:6:2],
                x[2],
                x[:, :, -1],
                x[..., ::3],
                torch.cat([x, y], 1),
                torch.cat([x, x * 2, x[:1]], 0),
                torch.stack([x, x + 1], 1),
                F.pad(x, (1, 2)),
                F.pad(x, (1, 2, 3, 0), value=1.5),
                F.pad(x, (-1, 2)),
                F.pad(x, (2, 3), mode='reflect'),
                F.pad(x, (2, 3), mode='replicate'),
                        y[:, :1].expand(5, 6, 12) * 2,
                x.repeat(2, 1, 3),
                torch.tile(x, (2, 2)),
                x.repeat_interleave(2, 1),
                torch.diagonal(x, 0, 1, 2),
                torch.diag_embed(x[0]),
                torch.tril(x),
                torch.triu(x, 1),
                x.unfold(2, 4, 3),
                torch.chunk(x, 3, 2)[1] + 1,
                torch.split(x, [2, 5], 1)[1],
                x.unbind(0)[3],
                x.squeeze().unsqueeze(1),
                x.movedim(0, 2).contiguous(),
                F.pixel_shuffle(y.reshape(5, 4, 4, 3), 2),
                torch.meshgrid(x[0, 0], x[0, 1], indexing='ij')[1] * 2,
                torch.rot90(x, 1, [1, 2]),
                torch.arange(12) * x,
                torch.where(torch.arange(7).unsqueeze(1) > 3, x, 0.0))


def get_inputs():
    return [torch.randn(5, 7, 12),
            torch.randn(5, 4, 12)]


def get_init_inputs():
    return []
