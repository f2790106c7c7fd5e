"""torch.export, decomposition down to the supported operators, and the walk over the result."""

import functools
import os

import torch

from cairn.errors import Refused, first_line, user_place
from cairn.graphfile import GraphBuilder
from cairn.modelfile import load_file, make_inputs, make_model


@functools.cache
def supported_ops():
    """The operators that the C++ side emits, as the table beside this file lists them."""
    path = os.path.join(os.path.dirname(__file__), "supported_ops.txt")
    with open(path, encoding="utf-8") as file:
        return tuple(line.strip() for line in file if line.strip())


@functools.cache
def decomposition_table():
    """PyTorch's default decompositions without those of the supported operators."""
    table = torch.export.default_decompositions()
    kept = set(supported_ops())
    for operator in list(table.keys()):
        if str(operator) in kept:
            del table[operator]
    return table.materialize()


def export_program(module, inputs, path=None):
    """The exported program over functional, supported operators; refuses what the module's code raises."""
    try:
        with torch.no_grad():
            exported = torch.export.export(module, inputs, strict=False)
            # Mutations of buffers and inputs show only after this.
            return exported.run_decompositions(decomposition_table())
    except (KeyboardInterrupt, Refused):
        raise
    except Exception as error:
        place = user_place(error, path) if path else ""
        raise Refused(f"the module cannot be exported: {first_line(error)}", place=place) from error


def separate(inputs):
    """The inputs with a tensor given twice copied: export would take the two arguments for one."""
    seen, out = set(), []
    for value in inputs:
        again = isinstance(value, torch.Tensor) and id(value) in seen
        seen.add(id(value))
        out.append(value.clone() if again else value)
    return tuple(out)


def import_module(module, example_inputs, name="module", params="safetensors", seed=1, path=None):
    """Exports a module called on example_inputs; returns an ImportedGraph."""
    if not isinstance(example_inputs, (list, tuple)):
        raise Refused("example_inputs is not a tuple of arguments")
    program = export_program(module, separate(example_inputs), path)
    builder = GraphBuilder(program, name, params, seed, path)
    graph = builder.build(supported_ops())
    graph.data["mode"] = "train" if module.training else "eval"
    return graph


def name_of(path):
    """The file's stem, or its directory's name where the file is called model.py."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.basename(os.path.dirname(os.path.abspath(path))) if stem == "model" else stem


def import_file(path, params="safetensors", seed=1, evaluate=False):
    """Exports the Model of a file in KernelBench's form, in training mode as it comes unless evaluate is set."""
    module = load_file(path)
    model = make_model(module, path, seed)
    if evaluate:
        model.eval()
    inputs = make_inputs(module, path)
    return import_module(model, inputs, name=name_of(path), params=params, seed=seed, path=path)
