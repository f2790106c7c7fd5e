"""A transformer's feed-forward block, LayerNorm to residual, and a softmax head."""

import torch
from torch import nn

TOKENS, WIDTH, HIDDEN, CLASSES = 256, 256, 1024, 128


class Model(nn.Module):
    def __init__(self, width, hidden, classes):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        self.final_norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        hidden = nn.functional.gelu(self.up(self.norm(x)))
        x = x + self.down(hidden)
        return torch.softmax(self.head(self.final_norm(x)), dim=-1)


def get_inputs():
    return [torch.randn(TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HIDDEN, CLASSES]
