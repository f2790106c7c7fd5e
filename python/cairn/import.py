"""`python -m cairn.import FILE.py --out DIR`: writes graph.json, and weights beside it, for one model file."""

import argparse
import json
import sys
import warnings

from cairn.errors import EXIT_BUG, EXIT_ENVIRONMENT, EXIT_INTERRUPTED, EXIT_REFUSED, Refused

MISSING_TORCH = """error: PyTorch is not installed in this Python ({python})
note: get it with: scripts/setup --python (a local .venv), or {python} -m pip install torch==2.11.0 numpy
note: everything but the import of .py files works without it; graph.json and .leir files need no PyTorch"""


warnings.filterwarnings("ignore", category=FutureWarning)  # of PyTorch about itself


def parse_arguments(words):
    parser = argparse.ArgumentParser(prog="cairn.import", description=__doc__)
    parser.add_argument("file", help="a .py file with Model, get_inputs and get_init_inputs")
    parser.add_argument("--out", default=".", help="directory to write to (default: here)")
    parser.add_argument("--name", default="graph", help="NAME.json and NAME.safetensors (default: graph)")
    parser.add_argument("--params", choices=("safetensors", "generator"), default="safetensors",
                        help="store parameters as values, or as generators that stand in for them")
    parser.add_argument("--eval", action="store_true", help="evaluation mode; without it the mode the module comes in")
    parser.add_argument("--seed", type=int, default=1, help="seed of the model's initialisation (default: 1)")
    parser.add_argument("--json", action="store_true", help="describe the result as one JSON line on stdout")
    return parser.parse_args(words)


def run(arguments):
    """Imports and writes; returns the summary."""
    from cairn.importer import import_file

    graph = import_file(arguments.file, params=arguments.params, seed=arguments.seed, evaluate=arguments.eval)
    try:
        paths = graph.write(arguments.out, arguments.name)
    except OSError as error:
        raise Refused(f"cannot write: {error.strerror}", place=arguments.out, exit_code=EXIT_REFUSED) from error
    data = graph.data
    return {
        "graph": paths[-1],
        "weights": paths[0] if len(paths) > 1 else None,
        "name": data["name"],
        "mode": data["mode"],
        "nodes": len(data["nodes"]),
        "inputs": [name for name, entry in data["tensors"].items() if entry["role"] == "in"],
        "outputs": data["outputs"],
        "updates": [update["tensor"] for update in data.get("updates", [])],
    }


def main(words=None):
    arguments = parse_arguments(words)
    try:
        import torch  # noqa: F401
    except ImportError:
        print(MISSING_TORCH.format(python=sys.executable), file=sys.stderr)
        return EXIT_ENVIRONMENT
    try:
        summary = run(arguments)
    except Refused as refusal:
        print(refusal.render(), file=sys.stderr)
        return refusal.exit_code
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except Exception as error:  # ours: say what to send
        print(f"error: internal error, {type(error).__name__}: {error}", file=sys.stderr)
        print("note: please report it with the model file", file=sys.stderr)
        return EXIT_BUG
    if arguments.json:
        print(json.dumps(summary))
        return 0
    print(f"{summary['graph']}: {summary['nodes']} operators, {summary['mode']} mode")
    for name in summary["updates"]:
        print(f"note: the module updates '{name}'; the program writes it too", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
