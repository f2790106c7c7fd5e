"""The programs of bench/workloads are what their modules import to."""

import os
import subprocess
import sys

import pytest
from harness import find_tool

WORKLOADS = os.path.join(os.path.dirname(__file__), "..", "..", "bench", "workloads")
sys.path.insert(0, WORKLOADS)

from make import make_graph  # noqa: E402
from modules import WORKLOADS as MODULES  # noqa: E402


@pytest.mark.parametrize("name", sorted(MODULES))
def test_program_is_what_the_module_imports_to(name, tmp_path):
    make_graph(name).write(str(tmp_path))
    cairn = os.path.join(os.path.dirname(find_tool()), "cairn")
    subprocess.run([cairn, "import", str(tmp_path / "graph.json"), "--out", str(tmp_path / "out")], check=True, capture_output=True)
    with open(os.path.join(WORKLOADS, f"{name}.leir"), encoding="utf-8") as file:
        assert (tmp_path / "out" / "program.leir").read_text() == file.read()
