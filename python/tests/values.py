"""Inputs for the tests: ordinary, special, and strided tensors."""

import torch

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, 1.5, 3.0, -3.0, 6.0, 20.5, -20.5, 100.0, -100.0, 1e-3, -1e-3,
           1e4, -1e4, float("inf"), float("-inf"), float("nan")]  # fmt: skip


def normal(*shape, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def special(dtype=torch.float32):
    """A vector of the values where functions differ, and ordinary ones."""
    return torch.cat([torch.tensor(SPECIAL, dtype=torch.float64), normal(41, dtype=torch.float64) * 3]).to(dtype)


def integers(*shape, low=-9, high=10, dtype=torch.int64, seed=0):
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randint(low, high, shape, generator=generator).to(dtype)


def booleans(*shape, seed=0):
    return integers(*shape, low=0, high=2, seed=seed).to(torch.bool)


def with_specials(tensor, seed=0):
    """A copy with some NaN and infinities planted."""
    out = tensor.clone()
    flat = out.view(-1)
    generator = torch.Generator().manual_seed(seed)
    for value in (float("nan"), float("inf"), float("-inf"), float("-inf")):
        flat[int(torch.randint(0, flat.numel(), (), generator=generator))] = value
    return out


def strided(dtype=torch.float32):
    """A transposed, a sliced, an expanded and an offset 3x4 tensor."""
    return [normal(4, 3, dtype=dtype).t(), normal(6, 8, dtype=dtype)[::2, 1::2], normal(1, 4, dtype=dtype).expand(3, 4),
            normal(40, dtype=dtype)[7:19].view(3, 4)]  # fmt: skip
