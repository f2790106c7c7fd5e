"""Writes the graphs of the workloads: PYTHONPATH=python python bench/workloads/make.py OUT (a directory)."""

import os
import sys

import torch
from modules import WORKLOADS

from cairn import import_module


class Call(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def make_graph(name):
    """The imported graph of one workload."""
    shapes, function = WORKLOADS[name]
    generator = torch.Generator().manual_seed(1)
    inputs = [torch.rand(shape, generator=generator) + 0.5 for shape in shapes]
    return import_module(Call(function).eval(), inputs, name=name, params="generator")


if __name__ == "__main__":
    for workload in WORKLOADS:
        folder = os.path.join(sys.argv[1], workload)
        os.makedirs(folder, exist_ok=True)
        make_graph(workload).write(folder)
