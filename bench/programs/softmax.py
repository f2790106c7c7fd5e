"""f32 softmax of rows, 4096 x 1024."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(4096, 1024)]


def get_init_inputs():
    return []
