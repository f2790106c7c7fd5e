"""Exports groups of functions, runs their LEIR by the interpreter in one process, and keeps both sides' results."""

import json
import os
import subprocess
from dataclasses import dataclass, field

import torch

from cairn.importer import import_module
from cairn.parameters import read_safetensors, write_safetensors



@dataclass
class Group:
    """Functions of the same inputs, exported together: one graph, one output a function."""

    name: str
    inputs: tuple
    functions: dict
    tolerance: dict = field(default_factory=dict)  # label -> (rtol, atol), else by dtype
    labels: list = field(default_factory=list)
    expected: list = field(default_factory=list)
    actual: list = field(default_factory=list)
    error: str = ""


class Functions(torch.nn.Module):
    def __init__(self, functions):
        super().__init__()
        self.functions = functions

    def forward(self, *inputs):
        return tuple(function(*inputs) for function in self.functions)


TOLERANCE = {
    torch.float64: (1e-11, 1e-12), torch.float32: (2e-5, 2e-6), torch.float16: (3e-3, 2e-3),
    torch.bfloat16: (2e-2, 1e-2),
}  # fmt: skip


def flatten(value):
    return [value] if isinstance(value, torch.Tensor) else [part for item in value for part in flatten(item)]


def find_tool():
    path = os.environ.get("CAIRN_GRAPH_BATCH")
    if path is None:
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        path = os.path.join(root, "build", "graph_batch")
    if not os.path.exists(path):
        raise RuntimeError(f"{path} is missing; build the target graph_batch or set CAIRN_GRAPH_BATCH")
    return path


def prepare(group, directory):
    """Computes PyTorch's results, exports, and writes the case's files."""
    flat = []
    for label, function in group.functions.items():
        parts = flatten(function(*group.inputs))
        group.labels += [label] * len(parts)
        flat += parts
    # Results may be views of inputs: keep their values.
    group.expected = [part.clone() for part in flat]
    graph = import_module(Functions(list(group.functions.values())), group.inputs)
    graph.write(directory)
    names = [name for name, entry in graph.data["tensors"].items() if entry["role"] == "in"]
    tensors = [value for value in group.inputs if isinstance(value, torch.Tensor)]
    write_safetensors(os.path.join(directory, "in.safetensors"), dict(zip(names, tensors, strict=True)))


def run_groups(groups, root):
    """Runs all groups; afterwards each holds `actual` or `error`."""
    lines = []
    for group in groups:
        directory = os.path.join(root, group.name.replace("/", "-"))
        os.makedirs(directory)
        try:
            prepare(group, directory)
        except Exception as error:  # the test of the group reports it
            group.error = f"{type(error).__name__}: {error}"
        lines.append("\t".join(os.path.join(directory, name) for name in ("graph.json", "in.safetensors", "out.safetensors")))
    done = subprocess.run(
        [find_tool(), "run"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for group, line, answer in zip(groups, lines, answers, strict=True):
        if group.error:
            continue
        if not answer["ok"]:
            group.error = answer["error"]
            continue
        results = read_safetensors(line.split("\t")[2])
        group.actual = [results[str(index)] for index in range(len(group.expected))]


def check_group(group):
    """Asserts that every result agrees; all disagreements in one message."""
    assert not group.error, group.error
    faults = []
    for label, expected, actual in zip(group.labels, group.expected, group.actual, strict=True):
        rtol, atol = group.tolerance.get(label, TOLERANCE.get(expected.dtype, (0, 0)))
        try:
            torch.testing.assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
        except AssertionError as error:
            faults.append(f"{label}: {error}")
    assert not faults, f"{len(faults)} of {len(group.labels)} disagree\n" + "\n".join(faults)
