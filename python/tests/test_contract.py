"""Matrix products, einsum, attention."""

import pytest
import torch
import torch.nn.functional as F
from harness import Group, check_group
from values import booleans, integers, normal

A, B = normal(5, 7), normal(7, 4)
GROUPS = [
    Group("matmul", (A, B, normal(7), normal(5, 4), normal(4)), {
        "mm": lambda a, b, v, c, d: torch.mm(a, b), "matmul": lambda a, b, v, c, d: a @ b, "mv": lambda a, b, v, c, d: a @ v,
        "vm": lambda a, b, v, c, d: v @ b, "dot": lambda a, b, v, c, d: torch.dot(v, v * 2), "outer": lambda a, b, v, c, d: torch.outer(v, d),
        "addmm": lambda a, b, v, c, d: torch.addmm(c, a, b, beta=0.5, alpha=2), "bias": lambda a, b, v, c, d: torch.addmm(d, a, b),
        "linear": lambda a, b, v, c, d: F.linear(a, b.t()), "linear_bias": lambda a, b, v, c, d: F.linear(a, b.t(), d),
        "vector_linear": lambda a, b, v, c, d: F.linear(v, b.t(), d), "tt": lambda a, b, v, c, d: b.T @ a.T,
        "beta0": lambda a, b, v, c, d: torch.addmm(c / 0, a, b, beta=0), "tensordot": lambda a, b, v, c, d: torch.tensordot(a, b, 1)}),
    Group("batched", (normal(3, 5, 7), normal(3, 7, 4), normal(2, 1, 7, 4), normal(7, 4)), {
        "bmm": lambda a, b, c, d: torch.bmm(a, b), "baddbmm": lambda a, b, c, d: torch.baddbmm(a[:, :, :4], a, b, alpha=0.5),
        "broadcast": lambda a, b, c, d: a @ c, "folded": lambda a, b, c, d: a @ d, "linear": lambda a, b, c, d: F.linear(a, d.t()),
        "transposed": lambda a, b, c, d: torch.bmm(b.transpose(1, 2), a.transpose(1, 2)), "vector": lambda a, b, c, d: c @ d[0]}),
    Group("einsum", (normal(3, 5, 7), normal(3, 7, 4), normal(5, 7), normal(7)), {
        "batched": lambda a, b, c, v: torch.einsum("bij,bjk->bik", a, b), "shared": lambda a, b, c, v: torch.einsum("bij,ij->b", a, c),
        "ellipsis": lambda a, b, c, v: torch.einsum("...ij,...jk", a, b), "implicit": lambda a, b, c, v: torch.einsum("ij,j", c, v),
        "trace": lambda a, b, c, v: torch.einsum("ii->i", c[:, :5]), "sum": lambda a, b, c, v: torch.einsum("ij->", c),
        "three": lambda a, b, c, v: torch.einsum("bij,bjk,j->bik", a, b, v), "chain": lambda a, b, c, v: torch.einsum("ij,bjk,bkl->bil", c, b, b.transpose(1, 2)),
        "outer": lambda a, b, c, v: torch.einsum("ij,k->ijk", c, v), "spaces": lambda a, b, c, v: torch.einsum("i j , j -> i", c, v),
        "broadcast": lambda a, b, c, v: torch.einsum("bij,ij->bij", a[:, :1], c), "permute": lambda a, b, c, v: torch.einsum("bij->jbi", a)}),
    Group("integer", (integers(3, 4), integers(4, 5)), {"mm": torch.mm}),
    Group("empty", (normal(3, 0), normal(0, 4)), {"mm": torch.mm, "rows": lambda a, b: b @ b.new_zeros(4, 2)}),
    Group("one", (normal(1, 1), normal(1, 1)), {"mm": torch.mm}),
    Group("strided", (normal(8, 10)[::2, 1:8], normal(4, 7).t()), {"mm": torch.mm}),
    Group("expanded", (normal(1, 7).expand(5, 7), normal(7, 1).expand(7, 4)), {"mm": torch.mm}),
    Group("nan", (torch.tensor([[float("nan"), 0.0], [float("inf"), 1.0]]), torch.tensor([[0.0, 1.0], [2.0, 3.0]])), {"mm": torch.mm}),
]  # fmt: skip
for dtype in (torch.float64, torch.float16, torch.bfloat16):
    GROUPS.append(Group(f"dtype/{str(dtype)[6:]}", (normal(5, 40, dtype=dtype), normal(40, 4, dtype=dtype), normal(4, dtype=dtype)), {
        "mm": lambda a, b, c: a @ b, "linear": lambda a, b, c: F.linear(a, b.t(), c), "einsum": lambda a, b, c: torch.einsum("ij,jk->ki", a, b)},
        {label: (2e-2, 6e-2) for label in ("mm", "linear", "einsum")} if dtype != torch.float64 else {}))  # fmt: skip

Q, K, V = normal(2, 3, 5, 8), normal(2, 3, 6, 8, seed=1), normal(2, 3, 6, 4, seed=2)
MASK = booleans(5, 6, seed=4)
MASK[2] = False  # a row that attends to nothing
GROUPS += [
    Group("attention", (Q, K, V, MASK, normal(5, 6, seed=5)), {
        "plain": lambda q, k, v, m, f: F.scaled_dot_product_attention(q, k, v),
        "causal": lambda q, k, v, m, f: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "mask": lambda q, k, v, m, f: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
        "bias": lambda q, k, v, m, f: F.scaled_dot_product_attention(q, k, v, attn_mask=f, scale=0.3),
        "spelled": lambda q, k, v, m, f: torch.softmax((q @ k.transpose(-2, -1) / 8**0.5).masked_fill(~m, float("-inf")), -1) @ v}),
    Group("grouped", (normal(2, 4, 5, 8), normal(2, 2, 6, 8), normal(2, 2, 6, 8)), {
        "gqa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)}),
    Group("attention-half", (Q.half(), K.half(), V.half()), {"plain": lambda q, k, v: F.scaled_dot_product_attention(q, k, v)}),
]  # fmt: skip


@pytest.mark.parametrize("name", [group.name for group in GROUPS])
def test_group(run_module_groups, name):
    check_group(run_module_groups[name])
