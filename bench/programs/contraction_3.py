"""f32 contraction of three operands over one axis."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b, scale):
        return torch.einsum("ik,kj,k->ij", a, b, scale)


def get_inputs():
    return [torch.randn(640, 512), torch.randn(512, 768), torch.randn(512)]


def get_init_inputs():
    return []
