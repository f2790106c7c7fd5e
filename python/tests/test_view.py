"""Views, joins, constants, gathers."""

import pytest
import torch
import torch.nn.functional as F
from harness import Group, check_group
from values import booleans, integers, normal, strided

VIEWS = {
    "view": lambda x: x.view(6, 20), "split": lambda x: x.view(3, 2, 2, 10), "flatten": lambda x: x.flatten(1) * 2,
    "ravel": lambda x: x.reshape(-1) + 1, "mixed": lambda x: x.reshape(8, 15), "t": lambda x: x[0].t() * 2,
    "permute": lambda x: x.permute(2, 0, 1) + 0.5, "heads": lambda x: x.view(3, 4, 2, 5).transpose(1, 2).reshape(3, 2, 20),
    "back": lambda x: x.transpose(1, 2).reshape(3, 40), "unflatten": lambda x: x.unflatten(2, (5, 2)).sum(3),
    "squeeze": lambda x: x[:, :1].squeeze(1), "unsqueeze": lambda x: x.unsqueeze(1) + x.unsqueeze(0),
    "expand": lambda x: x[:, :1].expand(-1, 4, -1) * x, "slice": lambda x: x[1:, ::2, 1:-1:3], "select": lambda x: x[-1, 2],
    "negative": lambda x: x[:, -2:], "flip": lambda x: x.flip(0, 2), "roll": lambda x: x.roll(3, 2), "roll2": lambda x: x.roll((1, -2), (0, 1)),
    "cat": lambda x: torch.cat([x, x[:, :1], x[:, ::2]], 1), "cat3": lambda x: torch.cat((x, x * 2, x), -1), "stack": lambda x: torch.stack([x[0], x[1]], 1),
    "chunk": lambda x: [part + 1 for part in x.chunk(3, 2)], "split2": lambda x: x.split(3, 2), "sizes": lambda x: x.split([1, 3], 1)[1] * 2,
    "unbind": lambda x: x.unbind(1)[2] + x.unbind(1)[0], "repeat": lambda x: x.repeat(2, 1, 3), "tile": lambda x: torch.tile(x[0], (2, 2)),
    "interleave": lambda x: x.repeat_interleave(2, dim=1), "tril": lambda x: x.tril(), "triu": lambda x: x.triu(2), "tril-1": lambda x: torch.tril(x, -1),
    "pad": lambda x: F.pad(x, (1, 2, 0, 1), value=-1.5), "crop": lambda x: F.pad(x, (-1, 2)), "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.transpose(0, 1).contiguous(), "movedim": lambda x: x.movedim(0, 2) * 1.5, "swap": lambda x: x.swapaxes(0, 1) + 1,
    "diff": lambda x: x[:, 1:] - x[:, :-1], "identity": lambda x: x, "glu": lambda x: F.glu(x, 1), "reverse": lambda x: x.flip(1).cumsum(1).flip(1),
    "exclusive": lambda x: torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1].cumsum(1)), 1), "narrow": lambda x: x.narrow(1, 1, 2) * 3,
    "merge": lambda x: x.reshape(12, 10).reshape(3, 4, 10), "diagonal": lambda x: torch.diagonal(x[:, :, 0]).sum(), "diagonal1": lambda x: torch.diagonal(x, -1, 1, 2) * 2,
}  # fmt: skip
CONSTANTS = {
    "zeros": lambda x: torch.zeros(3, 4) + x.sum(), "ones": lambda x: torch.ones_like(x) * x, "full": lambda x: torch.full((2, 3), 0.1) * x[0, 0, 0],
    "arange": lambda x: torch.arange(10) * x[0, 0], "arange_float": lambda x: torch.arange(0, 1, 0.1) + x[0, 0], "out": lambda x: torch.arange(3, 9, 2),
    "causal": lambda x: torch.triu(torch.ones(4, 4, dtype=torch.bool), 1) | (x[0, :, :4] > 0), "eye": lambda x: torch.eye(4) + x[0, :, :4],
    "new": lambda x: x.new_full((4,), 2.5) + x[0, :, 0], "linspace": lambda x: torch.linspace(0, 1, 10) * x[0, 0],
    "one_hot": lambda x: F.one_hot(torch.arange(4), 5), "tensor": lambda x: x * torch.tensor(2.0), "vector": lambda x: x * torch.tensor([1.0] * 10),
    "scalar_out": lambda x: torch.full((), 7.0), "assign": lambda x: torch.where(torch.arange(10) < 5, x, -x),
}  # fmt: skip
TABLE, INDEX = normal(9, 4), integers(3, 5, low=0, high=9)
GROUPS = [
    Group("views", (normal(3, 4, 10),), VIEWS),
    Group("views-strided", (normal(10, 4, 3).permute(2, 1, 0),), {key: VIEWS[key] for key in VIEWS if key not in ("view", "split", "heads", "back")}),
    Group("views-bool", (booleans(3, 4, 10),), {key: VIEWS[key] for key in ("select", "cat", "tril", "repeat", "pad", "clone", "reverse")} | {
        "cat_bool": lambda x: torch.cat([x, ~x], 2)}),
    Group("views-half", (normal(3, 4, 10).half(),), {key: VIEWS[key] for key in ("heads", "cat3", "pad", "triu", "mixed")}),
    Group("constants", (normal(3, 4, 10),), CONSTANTS),
    Group("gather", (TABLE, INDEX, integers(9, 2, low=0, high=4), integers(6, low=-9, high=9)), {
        "embedding": lambda t, i, g, w: F.embedding(i, t), "gather": lambda t, i, g, w: torch.gather(t, 1, g),
        "gather0": lambda t, i, g, w: torch.gather(t, 0, i[:, :4]), "index": lambda t, i, g, w: t[w], "select": lambda t, i, g, w: t.index_select(0, i[0]),
        "column": lambda t, i, g, w: t[:, g[0]], "both": lambda t, i, g, w: t[i[0, :2], g[0]], "take": lambda t, i, g, w: t[i[0]] * 2,
        "along": lambda t, i, g, w: torch.take_along_dim(t, g, 1), "list": lambda t, i, g, w: t[[0, 2, -1]],
        "rows": lambda t, i, g, w: t[torch.arange(3)[:, None], i[:3, :3] % 4]}),
    Group("mixed-cat", (normal(2, 3), integers(2, 3)), {"cat": lambda a, b: torch.cat([a, b], 1)}),
    Group("inputs-as-outputs", (normal(2, 3), normal(2, 3)), {"first": lambda a, b: a, "same": lambda a, b: a, "view": lambda a, b: b.t()}),
    Group("empty", (normal(0, 3), normal(2, 3)), {"cat": lambda a, b: torch.cat([a, b]), "slice": lambda a, b: b[1:1] * 2, "view": lambda a, b: a.reshape(3, 0)}),
    Group("scalar", (normal(1)[0],), {"view": lambda x: x.view(1, 1) * 2, "expand": lambda x: x.expand(3, 2), "stack": lambda x: torch.stack([x, x + 1])}),
]  # fmt: skip
GROUPS += [Group(f"strided/{k}", (x,), {"cat": lambda x: torch.cat([x, x], 1), "t": lambda x: x.t() * 2, "flat": lambda x: x.reshape(-1)})
           for k, x in enumerate(strided())]  # fmt: skip


@pytest.mark.parametrize("name", [group.name for group in GROUPS])
def test_group(run_module_groups, name):
    check_group(run_module_groups[name])
