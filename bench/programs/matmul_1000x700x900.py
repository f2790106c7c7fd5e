"""f32 matrix product of extents that no tile divides: 1000 x 700 times 700 x 900."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(1000, 700), torch.randn(700, 900)]


def get_init_inputs():
    return []
