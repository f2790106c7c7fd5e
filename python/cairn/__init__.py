"""Cairn's PyTorch front end: turns modules into graph.json (docs/formats/graph.md)."""

from cairn.errors import Refused

__all__ = ["Refused", "apply_parameters", "import_file", "import_module"]


def import_module(module, example_inputs, name="module", params="safetensors", seed=1):
    """Exports a module called on example_inputs (a tuple); returns a graphfile.ImportedGraph."""
    from cairn.importer import import_module as run

    return run(module, example_inputs, name=name, params=params, seed=seed)


def import_file(path, params="safetensors", seed=1, evaluate=False):
    """Exports the Model of a file with Model, get_inputs and get_init_inputs."""
    from cairn.importer import import_file as run

    return run(path, params=params, seed=seed, evaluate=evaluate)


def apply_parameters(module, graph_path):
    """Gives a module the parameter values that a graph.json states (from generators or its weights file)."""
    from cairn.parameters import apply_parameters as run

    return run(module, graph_path)
