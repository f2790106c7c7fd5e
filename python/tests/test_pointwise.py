"""Functions of one operand and activations over dtypes and special values."""

import pytest
import torch
import torch.nn.functional as F
from harness import Group, check_group
from values import FLOATS, integers, normal, special, strided

UNARY = {
    "abs": torch.abs, "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "log": torch.log,
    "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "neg": torch.neg, "reciprocal": torch.reciprocal, "sign": torch.sign, "floor": torch.floor, "ceil": torch.ceil,
    "round": torch.round, "trunc": torch.trunc, "frac": torch.frac, "tanh": torch.tanh, "sigmoid": torch.sigmoid,
    "erf": torch.erf, "erfc": torch.erfc, "square": torch.square, "isnan": torch.isnan, "isinf": torch.isinf,
    "isfinite": torch.isfinite, "logical_not": torch.logical_not, "sgn": torch.sgn,
    "round2": lambda x: torch.round(x, decimals=2),
}  # fmt: skip
ACTIVATIONS = {
    "relu": F.relu, "relu6": F.relu6, "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "selu": F.selu, "elu": lambda x: F.elu(x, 1.7),
    "celu": lambda x: F.celu(x, 0.6), "hardtanh": lambda x: F.hardtanh(x, -0.7, 1.3), "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish, "softplus": F.softplus, "softplus_beta": lambda x: F.softplus(x, 2.0, 5.0),
    "softsign": F.softsign, "mish": F.mish, "silu": F.silu, "logsigmoid": F.logsigmoid, "tanhshrink": F.tanhshrink,
    "hardshrink": F.hardshrink, "softshrink": F.softshrink, "threshold": lambda x: F.threshold(x, 0.3, -7.0),
    "clamp": lambda x: torch.clamp(x, -0.5, 0.75), "clamp_min": lambda x: torch.clamp(x, min=0.1),
    "clamp_max": lambda x: torch.clamp(x, max=0.1), "new_gelu": lambda x: 0.5 * x * (
        1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * torch.pow(x, 3.0)))),
}  # fmt: skip
MODERATE = {"sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "sinh": torch.sinh, "cosh": torch.cosh}
POWERS = {f"pow{p}": (lambda x, p=p: torch.pow(x, p)) for p in (0, 1, 2, 3, 4, 0.5, -0.5, -1, -2, 2.5)} | {
    "base": lambda x: torch.pow(1.5, x)
}
# PyTorch's vectorised GELU gives NaN at infinity; its half pow has other rules for -0 and -inf than its float pow.
GELU = {"gelu": F.gelu, "double": lambda x: F.gelu(x) * 2}
INTEGER = {
    "abs": torch.abs, "neg": torch.neg, "sign": torch.sign, "floor": torch.floor, "square": torch.square,
    "pow2": lambda x: x**2, "pow3": lambda x: x**3, "exp": torch.exp, "sqrt": lambda x: torch.sqrt(x * x),
    "sigmoid": torch.sigmoid, "not": torch.bitwise_not, "isnan": torch.isnan, "isfinite": torch.isfinite,
    "clamp": lambda x: torch.clamp(x, -3, 4), "relu": F.relu, "reciprocal": lambda x: torch.reciprocal(x * 2 + 1),
}  # fmt: skip
# PyTorch's own logsigmoid of half types rounds in between; exponentials of large values amplify one ulp.
LOOSE = {"cosh": (1e-4, 1e-5), "sinh": (1e-4, 1e-5), "tan": (1e-4, 1e-5)}

GROUPS = []
for dtype in FLOATS:
    name = str(dtype)[6:]
    GROUPS += [
        Group(f"unary/{name}", (special(dtype),), UNARY),
        Group(f"activation/{name}", (special(dtype),), ACTIVATIONS),
        Group(f"power/{name}", (special(dtype)[0 if dtype in (torch.float32, torch.float64) else 22 :],), POWERS),
        Group(f"gelu/{name}", (special(dtype)[:20],), GELU),
        Group(f"moderate/{name}", (normal(3, 5, dtype=dtype),), MODERATE, LOOSE if dtype == torch.float32 else {}),
    ]
GROUPS += [Group(f"integer/{kind}", (integers(4, 6, dtype=kind),), INTEGER) for kind in (torch.int64, torch.int32)]
GROUPS.append(Group("logit", (normal(3, 5).abs(),), {"logit": lambda x: torch.logit(x, 1e-3)}))
GROUPS += [Group(f"strided/{k}", (x,), {"gelu": F.gelu, "neg": torch.neg}) for k, x in enumerate(strided())]
GROUPS += [
    Group(f"shape/{name}", (x,), {"relu": F.relu, "exp": torch.exp, "mish": F.mish})
    for name, x in {"scalar": normal(1)[0], "one": normal(1), "ones": normal(1, 1, 1), "empty": normal(0, 3),
                    "five": normal(2, 1, 3, 2, 2)}.items()
]  # fmt: skip


@pytest.mark.parametrize("name", [group.name for group in GROUPS])
def test_group(run_module_groups, name):
    check_group(run_module_groups[name])
