"""Reductions, softmax and norms: axes, keepdim, dtypes, empty and special rows."""

import pytest
import torch
import torch.nn.functional as F
from harness import Group, check_group
from values import FLOATS, booleans, integers, normal, special, strided, with_specials

REDUCTIONS = {
    "sum": lambda x: x.sum(), "sum1": lambda x: x.sum(1), "sum_keep": lambda x: x.sum((0, -1), keepdim=True),
    "mean": lambda x: x.mean(), "mean-1": lambda x: x.mean(-1), "mean_keep": lambda x: x.mean((1, 2), True),
    "amax": lambda x: x.amax(1), "amin": lambda x: x.amin((0, 2)), "amax_all": lambda x: x.amax(),
    "max": lambda x: x.max(), "min": lambda x: x.min(), "prod": lambda x: x.prod(1), "prod_all": lambda x: x.prod(),
    "max_dim": lambda x: x.max(1), "min_dim": lambda x: x.min(-1, keepdim=True),
    "argmax": lambda x: x.argmax(1), "argmin": lambda x: x.argmin(0, keepdim=True), "argmax_all": lambda x: x.argmax(),
    "any": lambda x: x.any(1), "all": lambda x: x.all(), "any_all": lambda x: (x > 0).any(),
    "cumsum": lambda x: x.cumsum(1), "cumprod": lambda x: x.cumprod(-1), "l1": lambda x: torch.linalg.vector_norm(x, 1, 1),
    "l2": lambda x: x.norm(dim=1, keepdim=True), "fro": lambda x: torch.norm(x), "linf": lambda x: x.norm(float("inf")),
    "l3": lambda x: torch.linalg.vector_norm(x, 3, (0, 2)), "l0": lambda x: torch.linalg.vector_norm(x, 0, 1),
    "logsumexp": lambda x: x.logsumexp(1), "logsumexp2": lambda x: torch.logsumexp(x, (0, 2), keepdim=True),
    "softmax": lambda x: x.softmax(-1), "softmax0": lambda x: F.softmax(x, 0), "log_softmax": lambda x: x.log_softmax(1),
    "softmin": lambda x: F.softmin(x, 1),
}  # fmt: skip
SPREAD = {
    "var": lambda x: x.var(), "var1": lambda x: x.var(1), "var0": lambda x: x.var(0, unbiased=False),
    "std": lambda x: x.std(-1, keepdim=True), "correction": lambda x: torch.var(x, 1, correction=2),
    "var_mean": lambda x: torch.var_mean(x, 1), "std_mean": lambda x: torch.std_mean(x, (0, 1)),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[1:]), "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
    "normalize": lambda x: F.normalize(x, dim=1),
}  # fmt: skip
SPECIAL_ROWS = {key: REDUCTIONS[key] for key in (
    "sum1", "amax", "amin", "max_dim", "min_dim", "argmax", "argmin", "argmax_all", "prod", "any", "all", "cumsum", "l1",
    "l2", "linf", "logsumexp", "logsumexp2", "softmax", "log_softmax")}  # fmt: skip
INTEGER = {
    "sum": lambda x: x.sum(), "sum1": lambda x: x.sum(1), "prod": lambda x: x.prod(1), "amax": lambda x: x.amax(1),
    "max_dim": lambda x: x.max(1), "argmin": lambda x: x.argmin(1), "cumsum": lambda x: x.cumsum(0),
    "any": lambda x: x.any(1), "mean": lambda x: x.float().mean(1), "min": lambda x: x.min(),
}  # fmt: skip
BOOLEAN = {
    "sum": lambda x: x.sum(1), "any": lambda x: x.any(0), "all": lambda x: x.all(1), "amax": lambda x: x.amax(1),
    "cumsum": lambda x: x.cumsum(1), "mean": lambda x: x.float().mean(),
}  # fmt: skip
EMPTY = {
    "sum": lambda x: x.sum(1), "prod": lambda x: x.prod(1), "mean": lambda x: x.mean(1), "all": lambda x: x.all(1),
    "any": lambda x: x.any(1), "sum0": lambda x: x.sum(0), "cumsum": lambda x: x.cumsum(1), "norm": lambda x: x.norm(dim=1),
}  # fmt: skip


def rows():
    """Rows of only -inf, of NaN, of both infinities, with ties, with one element above."""
    inf, nan = float("inf"), float("nan")
    return torch.tensor([[-inf] * 4, [nan, 1, nan, 2], [inf, -inf, 0, 1], [3, 3, 1, 3], [1, 2, 3, 4], [inf, inf, 1, inf],
                         [-inf, -inf, -inf, 0.5], [0.0, -0.0, 0.0, -0.0]])  # fmt: skip


GROUPS = []
for dtype in FLOATS:
    name = str(dtype)[6:]
    half = dtype in (torch.float16, torch.bfloat16)
    loose = {"cumprod": (5e-2, 5e-2), "prod": (2e-2, 2e-2), "prod_all": (3e-2, 1e-2), "cumsum": (2e-2, 2e-2)} if half else {}
    GROUPS += [
        Group(f"reduce/{name}", (normal(3, 5, 4, dtype=dtype),), REDUCTIONS, loose),
        Group(f"spread/{name}", (normal(3, 5, 4, dtype=dtype),), SPREAD),
        Group(f"rows/{name}", (rows().to(dtype)[:, :, None],), SPECIAL_ROWS),
    ]
GROUPS += [Group(f"strided/{k}", (x[None],), REDUCTIONS) for k, x in enumerate(strided())]
GROUPS += [
    Group("planted", (with_specials(normal(4, 6, 3)),), SPECIAL_ROWS),
    Group("integer", (integers(4, 6),), INTEGER),
    Group("int32", (integers(4, 6, dtype=torch.int32),), INTEGER),
    Group("boolean", (booleans(4, 6),), BOOLEAN),
    Group("uint8", (integers(4, 6, low=0, high=3, dtype=torch.uint8),), {"any": lambda x: x.any(1), "sum": lambda x: x.sum(1)}),
    Group("empty", (normal(3, 0),), EMPTY),
    Group("one", (normal(4, 1, 1),), REDUCTIONS),
    Group("one-spread", (normal(4, 1),), {"var": lambda x: x.var(1), "var0": lambda x: x.var(1, unbiased=False)}),
    Group("scalar", (normal(1)[0],), {"sum": lambda x: x.sum(), "softmax": lambda x: x.softmax(0), "max": lambda x: x.max(),
                                      "cumsum": lambda x: x.cumsum(0), "argmax": lambda x: x.argmax(),
                                      "logsumexp": lambda x: x.logsumexp(0), "max_dim": lambda x: x.max(0)}),
    Group("vector", (special()[:20],), {"softmax": lambda x: x.softmax(0), "argmax": lambda x: x.argmax(),
                                        "sum": lambda x: x.sum(0), "logsumexp": lambda x: x.logsumexp(0)}),
    Group("dtype-argument", (normal(3, 5, dtype=torch.float16),), {
        "sum": lambda x: x.sum(1, dtype=torch.float32), "softmax": lambda x: F.softmax(x, 1, dtype=torch.float32),
        "mean": lambda x: x.mean(1, dtype=torch.float32), "norm": lambda x: torch.linalg.vector_norm(x, dtype=torch.float64),
        "log_softmax": lambda x: x.log_softmax(1, dtype=torch.float64), "cumsum": lambda x: x.cumsum(0, dtype=torch.float32)}),
    Group("affine", (normal(4, 6, 5), normal(5), normal(5), normal(6), normal(6)), {
        "layer_norm": lambda x, w, b, s, t: F.layer_norm(x, (5,), w, b, 1e-3),
        "rms_norm": lambda x, w, b, s, t: F.rms_norm(x, (5,), w, 1e-3),
        "group_norm": lambda x, w, b, s, t: F.group_norm(x, 3, s, t), "group1": lambda x, w, b, s, t: F.group_norm(x, 1),
        "group6": lambda x, w, b, s, t: F.group_norm(x, 6, s, t), "instance": lambda x, w, b, s, t: F.instance_norm(x),
        "instance_affine": lambda x, w, b, s, t: F.instance_norm(x, weight=s, bias=t),
        "batch": lambda x, w, b, s, t: F.batch_norm(x, None, None, s, t, training=True),
        "inference": lambda x, w, b, s, t: F.batch_norm(x, s, t.abs(), s, t)}),
    Group("affine-half", (normal(4, 6, dtype=torch.float16), normal(6, dtype=torch.float16)), {
        "layer_norm": lambda x, w: F.layer_norm(x, (6,), w, w), "rms_norm": lambda x, w: F.rms_norm(x, (6,), w)}),
]  # fmt: skip
GROUPS.append(Group("losses", (normal(6, 5), normal(6, 5, seed=1), integers(6, low=0, high=5)), {
    "mse": lambda a, b, t: F.mse_loss(a, b), "l1": lambda a, b, t: F.l1_loss(a, b, reduction="sum"),
    "smooth": lambda a, b, t: F.smooth_l1_loss(a, b), "huber": lambda a, b, t: F.huber_loss(a, b, delta=0.5),
    "kl": lambda a, b, t: F.kl_div(a.log_softmax(1), b.softmax(1), reduction="batchmean"),
    "nll": lambda a, b, t: F.nll_loss(a, t), "cross": lambda a, b, t: F.cross_entropy(a, t),
    "cross_none": lambda a, b, t: F.cross_entropy(a, t, reduction="none"),
    "smoothing": lambda a, b, t: F.cross_entropy(a, t, label_smoothing=0.1),
    "hinge": lambda a, b, t: torch.mean(torch.clamp(1 - a * b, min=0)), "cosine": lambda a, b, t: F.cosine_similarity(a, b),
    "triplet": lambda a, b, t: F.triplet_margin_loss(a, b, a + b), "bce": lambda a, b, t: F.binary_cross_entropy_with_logits(a, b.sigmoid()),
}))  # fmt: skip


@pytest.mark.parametrize("name", [group.name for group in GROUPS])
def test_group(run_module_groups, name):
    check_group(run_module_groups[name])
