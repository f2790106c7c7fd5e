"""Files, modules, the command, and what it refuses."""

import json
import os
import subprocess
import sys

import pytest
import torch
from harness import find_tool
from torch import nn

from cairn import Refused, apply_parameters, import_file, import_module
from cairn.parameters import generate, graph_values, read_safetensors, write_safetensors

PYTHON = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEAD = "import torch\nfrom torch import nn\n"
TAIL = "\ndef get_inputs():\n    return [torch.rand(4, 8)]\n\ndef get_init_inputs():\n    return []\n"


def model_text(forward, init="", tail=TAIL):
    lines = [f"        {line}" for line in init.splitlines()]
    body = [f"        {line}" for line in forward.splitlines()]
    return "\n".join([HEAD, "class Model(nn.Module):", "    def __init__(self):", "        super().__init__()", *lines,
                      "    def forward(self, x):", *body, tail])  # fmt: skip


def write_model(directory, *arguments, **options):
    path = directory / "model.py"
    path.write_text(model_text(*arguments, **options))
    return str(path)


def run_command(*words, env=None):
    return subprocess.run(
        [sys.executable, "-m", "cairn.import", *words], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": PYTHON, **(env or {})}, check=False,
    )  # fmt: skip


def run_graph(graph, directory, inputs):
    """The results of a graph through LEIR, by name."""
    graph.write(str(directory))
    write_safetensors(str(directory / "in.safetensors"), inputs)
    line = "\t".join(str(directory / name) for name in ("graph.json", "in.safetensors", "out.safetensors"))
    done = subprocess.run([find_tool(), "run"], input=line + "\n", capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    assert answer["ok"], answer["error"]
    return read_safetensors(str(directory / "out.safetensors"))


def test_command_writes_graph_and_weights(tmp_path):
    path = write_model(tmp_path, "return self.up(x).relu()", "self.up = nn.Linear(8, 3)")
    done = run_command(path, "--out", str(tmp_path / "out"), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    assert summary["inputs"] == ["x"] and summary["nodes"] == 2 and summary["mode"] == "train"
    graph = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert [node["place"] for node in graph["nodes"]] == ["model.py:9", "model.py:9"]
    weights = read_safetensors(str(tmp_path / "out" / "graph.safetensors"))
    assert {name: list(value.shape) for name, value in weights.items()} == {"up.bias": [3], "up.weight": [3, 8]}
    assert sorted(os.listdir(tmp_path / "out")) == ["graph.json", "graph.safetensors"]


def test_same_seed_gives_same_bytes(tmp_path):
    path = write_model(tmp_path, "return self.up(x)", "self.up = nn.Linear(8, 3)")
    for name in ("a", "b"):
        assert run_command(path, "--out", str(tmp_path / name), "--seed", "5").returncode == 0
    for file in ("graph.json", "graph.safetensors"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


REFUSALS = {
    "raises": (model_text("return x") + "\nraise ValueError('broken here')\n", 3, "the file raised ValueError: broken here"),
    "exits": (HEAD + "import sys\nsys.exit(0)\n", 3, "the file raised SystemExit"),
    "syntax": ("class Model(:\n", 3, "model.py:1: error: the file raised SyntaxError"),
    "no model": (HEAD + TAIL, 3, "the file defines no Model"),
    "nothing": ("", 3, "no Model and no get_inputs and no get_init_inputs"),
    "not a module": (HEAD + "class Model:\n    pass\n" + TAIL, 3, "Model is not a torch.nn.Module"),
    "init": (model_text("return x", "raise RuntimeError('no weights')"), 3, "Model raised RuntimeError: no weights"),
    "inputs": (model_text("return x", tail="def get_inputs():\n    return 1 / 0\n\ndef get_init_inputs():\n    return []\n"), 3,
               "get_inputs raised ZeroDivisionError"),
    "forward": (model_text("raise KeyError('k')"), 3, "the module cannot be exported: KeyError"),
    "shapes": (model_text("return x @ x"), 3, "the module cannot be exported"),
    "data dependent": (model_text("return x if x.sum() > 0 else -x"), 3, "the module cannot be exported"),
    "operator": (model_text("return torch.linalg.qr(x)[0]"), 3, "model.py:8: error: operator aten.linalg_qr.default is not supported"),
    "supported": (model_text("return torch.linalg.qr(x)[0]"), 3, "note: supported: aten."),
    "dropout": (model_text("return nn.functional.dropout(x, 0.5)"), 3, "dropout with p=0.5 in training mode is random"),
    "random": (model_text("return x + torch.rand(8)"), 3, "draws random numbers"),
    "no tensor": (model_text("return 3"), 3, "which is not a tensor"),
    "complex": (model_text("return torch.view_as_real(torch.fft.fft(x))"), 3, "not supported"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_command_refuses_without_stack_trace(tmp_path, name):
    text, code, message = REFUSALS[name]
    path = tmp_path / "model.py"
    path.write_text(text)
    with pytest.raises(Refused) as caught:
        import_file(str(path))
    assert message in caught.value.render()
    assert caught.value.exit_code == code
    if name in ("raises", "operator", "syntax"):  # the whole process once a stage
        done = run_command(str(path), "--out", str(tmp_path / "out"))
        assert done.returncode == code and message in done.stderr
        assert "Traceback" not in done.stderr and not (tmp_path / "out").exists()


def test_missing_file_and_missing_torch(tmp_path):
    done = run_command(str(tmp_path / "none.py"))
    assert done.returncode == 2 and "no such file" in done.stderr
    (tmp_path / "torch.py").write_text("raise ImportError('hidden by the test')\n")
    done = run_command("model.py", env={"PYTHONPATH": f"{tmp_path}{os.pathsep}{PYTHON}"})
    assert done.returncode == 4 and "pip install torch" in done.stderr and "Traceback" not in done.stderr


def test_unwritable_directory(tmp_path):
    path = write_model(tmp_path, "return x")
    (tmp_path / "file").write_text("")
    done = run_command(path, "--out", str(tmp_path / "file" / "below"))
    assert done.returncode == 3 and "cannot write" in done.stderr


def test_inputs_take_no_memory(tmp_path):
    tail = "def get_inputs():\n    return [torch.rand(1 << 20, 1 << 20)]\n\ndef get_init_inputs():\n    return []\n"
    graph = import_file(write_model(tmp_path, "return x.relu()", tail=tail))
    assert graph.data["tensors"]["x"]["shape"] == [1 << 20, 1 << 20]


def test_inputs_that_need_real_tensors(tmp_path):
    tail = ("def get_inputs():\n    n = int(torch.ones(3).sum().item())\n    return [torch.rand(n, 8)]\n\n"
            "def get_init_inputs():\n    return []\n")  # fmt: skip
    graph = import_file(write_model(tmp_path, "return x * 2", tail=tail))
    assert graph.data["tensors"]["x"]["shape"] == [3, 8]


def test_number_arguments_are_part_of_the_graph():
    class Scale(nn.Module):
        def forward(self, x, s):
            return x * s

    graph = import_module(Scale(), (torch.rand(3), 3.14))
    assert list(graph.data["tensors"]) == ["x"]
    assert graph.data["nodes"][0]["args"]["other"] == 3.14


def test_evaluation_mode_turns_dropout_off(tmp_path):
    path = write_model(tmp_path, "return self.drop(x) * 2", "self.drop = nn.Dropout(0.5)")
    assert import_file(path, evaluate=True).data["mode"] == "eval"
    zero = write_model(tmp_path, "return self.drop(x) * 2", "self.drop = nn.Dropout(0.0)")
    assert import_file(zero).data["mode"] == "train"


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6, bias=False)
        self.second = nn.Linear(6, 6, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


def test_tied_weights_are_one_tensor(tmp_path):
    module, x = Tied(), torch.randn(2, 6)
    graph = import_module(module, (x,))
    assert [name for name, entry in graph.data["tensors"].items() if entry["role"] == "param"] == ["first.weight"]
    assert graph.data["tied"] == {"second.weight": "first.weight"}
    torch.testing.assert_close(run_graph(graph, tmp_path, {"x": x})["0"], module(x))


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(5, momentum=0.3)
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
        self.total.add_(x.sum())
        return self.norm(x) * self.total


@pytest.mark.parametrize("training", [True, False])
def test_buffers_are_updated_as_in_pytorch(tmp_path, training):
    module, x = Counting().train(training), torch.randn(7, 5)
    module.norm.running_mean.uniform_()
    graph = import_module(module, (x,))
    results = run_graph(graph, tmp_path, {"x": x})
    expected = module(x)
    torch.testing.assert_close(results["0"], expected, rtol=1e-4, atol=1e-5)
    names = {"total"} | ({"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"} if training else set())
    assert set(results) == {"0"} | names
    for name in names:
        torch.testing.assert_close(results[name], module.get_buffer(name))


def test_updated_inputs_are_written(tmp_path):
    class AddInto(nn.Module):
        def forward(self, x, y):
            x.add_(y)
            return x * 2

    x, y = torch.randn(3), torch.randn(3)
    graph = import_module(AddInto(), (x.clone(), y))
    results = run_graph(graph, tmp_path, {"x": x, "y": y})
    torch.testing.assert_close(results["x"], x + y)
    torch.testing.assert_close(results["0"], (x + y) * 2)


def test_input_given_twice_stays_two_inputs(tmp_path):
    class Pair(nn.Module):
        def forward(self, a, b):
            return a - b

    x = torch.randn(3)
    graph = import_module(Pair(), (x, x))
    result = run_graph(graph, tmp_path, {"a": x, "b": x + 1})["0"]
    torch.testing.assert_close(result, torch.full((3,), -1.0))


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(6, 4)
        self.norm = nn.LayerNorm(4)
        self.register_buffer("mask", torch.ones(4, 4).tril() > 0)
        self.register_buffer("table", torch.arange(4.0), persistent=False)

    def forward(self, x):
        y = self.norm(self.up(x))
        return (y @ y.t()).masked_fill(~self.mask, -1.0) + self.table * torch.tensor([1.0, 2.0, 3.0, 4.0])


def test_generators_stand_in_for_parameters(tmp_path):
    module, x = Mixed(), torch.randn(4, 6)
    graph = import_module(module, (x,), params="generator")
    tensors = graph.data["tensors"]
    assert tensors["up.weight"]["generator"]["kind"] == "uniform"
    assert tensors["norm.weight"]["generator"] == {"kind": "constant", "value": 1.0}
    assert "key" in tensors["mask"] and tensors["mask"]["buffer"] is True
    result = run_graph(graph, tmp_path, {"x": x})["0"]
    apply_parameters(module, str(tmp_path / "graph.json"))
    assert not torch.equal(module.up.weight, Mixed().up.weight)
    torch.testing.assert_close(result, module(x))
    assert torch.equal(graph_values(str(tmp_path / "graph.json"))["up.weight"], module.up.weight)


def test_values_stand_for_parameters(tmp_path):
    module, x = Mixed(), torch.randn(4, 6)
    torch.testing.assert_close(run_graph(import_module(module, (x,)), tmp_path, {"x": x})["0"], module(x))


# The same three numbers are asserted on the C++ side (tests/ops/params_test.cpp).
def test_uniform_generator_has_fixed_bits():
    values = generate({"kind": "uniform", "low": -1, "high": 1, "seed": 7}, [1000001], torch.float64)
    assert [float(values[k]) for k in (0, 1, 1000000)] == [0.44301629066467285, -0.6882119178771973, -0.37153661251068115]


def test_transposed_parameters_keep_their_values(tmp_path):
    class Turned(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 3).t())

        def forward(self, x):
            return x @ self.weight

    module, x = Turned(), torch.randn(2, 3)
    torch.testing.assert_close(run_graph(import_module(module, (x,)), tmp_path, {"x": x})["0"], module(x))


@pytest.mark.parametrize("index, message", [(9, "out of bounds"), (-1, "out of bounds")])
def test_bad_indices_are_run_time_errors(tmp_path, index, message):
    class Look(nn.Module):
        def forward(self, table, at):
            return nn.functional.embedding(at, table)

    table = torch.randn(9, 2)
    graph = import_module(Look(), (table, torch.tensor([1, 2])))
    with pytest.raises(AssertionError) as caught:
        run_graph(graph, tmp_path, {"table": table, "at": torch.tensor([0, index])})
    assert message in str(caught.value)
