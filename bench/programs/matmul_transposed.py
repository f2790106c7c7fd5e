"""f32 matrix product with both operands transposed."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a.t(), b.t())


def get_inputs():
    return [torch.randn(768, 640), torch.randn(896, 768)]


def get_init_inputs():
    return []
