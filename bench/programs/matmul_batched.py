"""f32 products of sixteen pairs of matrices."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.randn(16, 256, 320), torch.randn(16, 320, 192)]


def get_init_inputs():
    return []
