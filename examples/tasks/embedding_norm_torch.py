"""Rows of a table, added to positions, and their layer norm."""

import torch
import torch.nn as nn

BATCH = 8
LENGTH = 128
WORDS = 5000
FEATURES = 256


class Model(nn.Module):
    def __init__(self, words, length, features):
        super().__init__()
        self.words = nn.Embedding(words, features)
        self.places = nn.Embedding(length, features)
        self.norm = nn.LayerNorm(features)

    def forward(self, ids):
        places = torch.arange(ids.shape[1])
        return self.norm(self.words(ids) + self.places(places))


def get_inputs():
    return [torch.randint(0, WORDS, (BATCH, LENGTH))]


def get_init_inputs():
    return [WORDS, LENGTH, FEATURES]
