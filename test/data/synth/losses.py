"""As torch.nn.functional has them."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, y, z, t, s, w):
        return (F.mse_loss(x, y),
                F.l1_loss(x, y),
                F.smooth_l1_loss(x, y),
                F.huber_loss(x, y, delta=0.7),
                F.cross_entropy(x, t),
                F.cross_entropy(x, t, weight=w, label_smoothing=0.1),
                F.cross_entropy(x, t, reduction='none'),
                F.cross_entropy(x, torch.softmax(y, 1)),
                F.nll_loss(torch.log_softmax(x, 1), t),
                F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y)),
                F.binary_cross_entropy_with_logits(x, torch.sigmoid(y)),
                F.kl_div(torch.log_softmax(x, 1), torch.softmax(y, 1), reduction='batchmean'),
                F.hinge_embedding_loss(x, s),
                F.soft_margin_loss(x, s),
                F.margin_ranking_loss(x[:, 0], y[:, 0], s[:, 0], 0.3),
                F.triplet_margin_loss(x, y, z),
                F.cosine_embedding_loss(x, y, s[:, 0]),
                F.cosine_similarity(x, y),
                F.pairwise_distance(x, y),
                F.poisson_nll_loss(x, y.abs()),
                        torch.clamp(1 - x * s, min=0).mean(),
                F.multilabel_soft_margin_loss(x, (s > 0).float()),
                torch.cdist(x, y))


def get_inputs():
    return [torch.randn(23, 10),
            torch.randn(23, 10),
            torch.randn(23, 10),
            torch.randint(0, 10, (23,)),
            torch.randint(0, 2, (23, 10)) * 2.0 - 1,
            torch.rand(10) + 0.5]


def get_init_inputs():
    return []
