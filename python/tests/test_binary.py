"""Operators of two operands: broadcasting, promotion, special values; comparisons, where, masks."""

import pytest
import torch
from harness import Group, check_group
from values import FLOATS, booleans, integers, normal, special, strided

ARITHMETIC = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum,
    "minimum": torch.minimum, "fmax": torch.fmax, "fmin": torch.fmin, "alpha": lambda a, b: torch.add(a, b, alpha=3),
    "sub_alpha": lambda a, b: torch.sub(a, b, alpha=2), "rsub": lambda a, b: torch.rsub(a, b, alpha=2),
}  # fmt: skip
MODES = {
    "floor": lambda a, b: torch.div(a, b, rounding_mode="floor"), "floor_divide": torch.floor_divide,
    "trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"), "remainder": torch.remainder, "fmod": torch.fmod,
}  # fmt: skip
COMPARISONS = {
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
    "and": torch.logical_and, "or": torch.logical_or, "xor": torch.logical_xor,
}  # fmt: skip
SCALARS = {
    "add": lambda a: a + 1, "radd": lambda a: 0.1 + a, "sub": lambda a: a - 0.3, "rsub": lambda a: 1 - a,
    "mul": lambda a: a * 3.14, "div": lambda a: a / 3, "rdiv": lambda a: 2 / a, "lt": lambda a: a < 0.1,
    "ge": lambda a: a >= 1, "eq": lambda a: a == 0.1, "ne": lambda a: a != 2,
    "where": lambda a: torch.where(a > 0, a, 0.0), "where2": lambda a: torch.where(a > 0, 1.0, a),
    "masked_fill": lambda a: a.masked_fill(a > 0.5, float("-inf")), "lerp": lambda a: torch.lerp(a, a * 2, 0.3),
    "addcmul": lambda a: torch.addcmul(a, a, a, value=0.5), "addcdiv": lambda a: torch.addcdiv(a, a, a + 7, value=2),
    "clamp_t": lambda a: torch.clamp(a, a * 0 - 0.5, a * 0 + 0.5),
}  # fmt: skip
LOGIC = {
    "and": torch.logical_and, "bitand": torch.bitwise_and, "bitor": torch.bitwise_or, "bitxor": torch.bitwise_xor,
    "add": torch.add, "mul": torch.mul, "eq": torch.eq, "max": torch.maximum, "not": lambda a, b: ~a,
    "float": lambda a, b: a.float() + b, "int": lambda a, b: a.long() + b, "where": lambda a, b: torch.where(a, 1.5, 2.5),
}  # fmt: skip


def grid(dtype, both=True):
    """All pairs of special values."""
    values = special(dtype)[:24]
    return values[:, None], values[None, :]


GROUPS = []
for dtype in FLOATS:
    name = str(dtype)[6:]
    GROUPS += [
        Group(f"arithmetic/{name}", grid(dtype), ARITHMETIC),
        Group(f"compare/{name}", grid(dtype), COMPARISONS),
        Group(f"scalar/{name}", (special(dtype),), SCALARS),
        Group(f"pow/{name}", (normal(5, 1, dtype=dtype).abs(), normal(7, dtype=dtype)), {"pow": torch.pow}),
    ]
GROUPS += [
    Group("modes/float32", grid(torch.float32), MODES),
    Group("modes/float64", grid(torch.float64), MODES),
    Group("modes/int64", (integers(5, 1), integers(7, low=1)), MODES),
    Group("modes/negative", (integers(5, 1, seed=3), integers(7, low=-7, high=0)), MODES),
    Group("integers", (integers(5, 1), integers(7)), ARITHMETIC | COMPARISONS, {}),
    Group("int32", (integers(5, 1, dtype=torch.int32), integers(7, dtype=torch.int32)), ARITHMETIC),
    Group("logic", (booleans(4, 1), booleans(5, seed=2)), LOGIC),
    Group("promote/int-float", (integers(4, 1), normal(5)), ARITHMETIC | COMPARISONS),
    Group("promote/int-half", (integers(4, 1, low=-3000, high=3000), normal(5, dtype=torch.float16)), {
        "add": torch.add, "mul": torch.mul, "lt": torch.lt}),
    Group("promote/half-bfloat", (normal(4, 1, dtype=torch.float16), normal(5, dtype=torch.bfloat16)), {
        "add": torch.add, "mul": torch.mul}),
    Group("promote/float-double", (normal(4, 1), normal(5, dtype=torch.float64)), {"add": torch.add, "gt": torch.gt}),
    Group("promote/bool-float", (booleans(4, 1), normal(5)), {"add": torch.add, "mul": torch.mul}),
    Group("promote/rank0", (normal(4), normal(1, dtype=torch.float64)[0]), {"add": torch.add, "mul": torch.mul}),
    Group("promote/bool-int", (booleans(4, 1), integers(5)), {"add": torch.add, "mul": torch.mul}),
    Group("int-scalar", (integers(6),), {"add": lambda a: a + 2, "addf": lambda a: a + 0.5, "div": lambda a: a / 4,
                                         "mul": lambda a: a * 2.0, "lt": lambda a: a < 1.5, "rsub": lambda a: 3 - a}),
    Group("broadcast", (normal(2, 1, 4), normal(3, 1), normal(1)), {
        "add": lambda a, b, c: a + b + c, "where": lambda a, b, c: torch.where(a > b, b, c),
        "mask": lambda a, b, c: a.masked_fill(b > 0, c[0])}),
    Group("empty", (normal(0, 4), normal(1, 4)), {"add": torch.add}),
    Group("half-compare", (torch.tensor([0.1, 0.2], dtype=torch.float16),), {"lt": lambda a: a < 0.1}),
    Group("convert", (special(torch.float32)[:22],), {
        "half": lambda a: a.half(), "bfloat": lambda a: a.bfloat16(), "double": lambda a: a.double(),
        "bool": lambda a: a.bool(), "same": lambda a: a.float() * 1, "back": lambda a: a.half().float() * 2}),
    Group("convert-int", (normal(30) * 50,), {"long": lambda a: a.long(), "int": lambda a: a.int() + 1,
                                              "short": lambda a: a.to(torch.int16)}),
    Group("from-int", (integers(9),), {"float": lambda a: a.float() / 2, "half": lambda a: a.half(),
                                       "bool": lambda a: a.bool(), "int": lambda a: a.int()}),
]  # fmt: skip
GROUPS += [Group(f"strided/{k}", (x, normal(4)), {"add": torch.add, "lt": torch.lt}) for k, x in enumerate(strided())]


@pytest.mark.parametrize("name", [group.name for group in GROUPS])
def test_group(run_module_groups, name):
    check_group(run_module_groups[name])
