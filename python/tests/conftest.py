"""Runs every group of every test module once, in one call of the tool."""

import os
import sys

import pytest
import torch

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def run_module_groups(request, tmp_path_factory):
    """The module's GROUPS after running them, by name."""
    from harness import run_groups

    groups = request.module.GROUPS
    run_groups(groups, str(tmp_path_factory.mktemp("groups")))
    return {group.name: group for group in groups}
