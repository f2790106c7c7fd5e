"""From an exported program to the data of graph.json."""

import json
import math
import os
import re

import torch

from cairn.errors import Refused, show_path
from cairn.parameters import DTYPES, choose_generator, write_atomic, write_safetensors

VERSION = 1
# Arguments that say nothing about values.
IGNORED = {"layout", "device", "pin_memory", "memory_format", "generator", "non_blocking", "requires_grad"}
FRAME = re.compile(r'File "([^"]+)", line (\d+)')
RANDOM = re.compile(r"^aten\.(bernoulli|rand|randn|randint|randperm|normal|uniform|multinomial|exponential)\w*\.")


class ImportedGraph:
    """The data of a graph.json and the tensors of its weights file."""

    def __init__(self, data, weights):
        self.data = data
        self.weights = weights

    def text(self):
        """JSON with one tensor, one node a line."""
        lines = []
        for key, value in self.data.items():
            if key == "tensors" and value:
                rows = (f"    {json.dumps(name)}: {dump(entry)}" for name, entry in value.items())
                lines.append('  "tensors": {\n' + ",\n".join(rows) + "\n  }")
            elif key == "nodes" and value:
                lines.append('  "nodes": [\n' + ",\n".join(f"    {dump(node)}" for node in value) + "\n  ]")
            else:
                lines.append(f"  {json.dumps(key)}: {dump(value)}")
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def write(self, directory, stem="graph"):
        """Writes STEM.json, and STEM.safetensors if there are weights; returns the paths."""
        os.makedirs(directory, exist_ok=True)
        paths = []
        if self.weights:
            self.data["weights"] = f"{stem}.safetensors"
            paths.append(os.path.join(directory, self.data["weights"]))
            write_safetensors(paths[0], self.weights)
        paths.append(os.path.join(directory, f"{stem}.json"))
        write_atomic(paths[-1], [self.text().encode()])
        return paths


def dump(value):
    """Compact JSON; every number is finite by construction."""
    return json.dumps(value, allow_nan=False)


def storage_key(value):
    """What tied tensors share; None for tensors without elements."""
    return (value.data_ptr(), tuple(value.shape), value.stride(), value.dtype) if value.numel() else None


class GraphBuilder:
    """Walks one exported program."""

    def __init__(self, program, name, params, seed, path):
        if params not in ("safetensors", "generator"):
            raise Refused(f"params is '{params}', expected safetensors or generator")
        self.program = program
        self.signature = program.graph_signature
        self.params = params
        self.seed = seed
        self.path = os.path.abspath(path) if path else None
        self.names = {}  # fx node -> tensor name
        self.tensors = {}
        self.weights = {}
        self.ties = {}
        self.data = {"cairn_graph": VERSION, "name": name, "torch": torch.__version__.split("+")[0], "mode": None}

    def build(self, supported):
        """The graph; refuses unknown and random operators and results that are not tensors."""
        self.add_placeholders()
        nodes = self.add_nodes(set(supported), supported)
        outputs, updates = self.find_results()
        self.data["weights"] = None
        if self.ties:
            self.data["tied"] = self.ties
        self.data["tensors"] = self.tensors
        self.data["nodes"] = nodes
        self.data["outputs"] = outputs
        if updates:
            self.data["updates"] = updates
        return ImportedGraph(self.data, self.weights)

    # Tensors that exist before the first node.

    def add_placeholders(self):
        kinds = torch.export.graph_signature.InputKind
        specs = {spec.arg.name: spec for spec in self.signature.input_specs}
        updated = set(self.signature.buffers_to_mutate.values())
        first_names = self.first_names()
        for node in self.program.graph.find_nodes(op="placeholder"):
            spec = specs[node.name]
            meta = node.meta.get("val")
            if not isinstance(meta, torch.Tensor):
                continue  # a number or a string: already part of the nodes
            if spec.kind == kinds.USER_INPUT:
                self.declare(node, node.name, {"role": "in", **self.describe(meta, node)})
                continue
            if not node.users and spec.target not in updated:
                continue
            value = self.value_of(spec.target)
            # Tied weights: export names the use after either parameter, so storage decides.
            name = first_names.get(storage_key(value), spec.target)
            if name != spec.target:
                self.ties[spec.target] = name
            if name in self.tensors:
                self.names[node] = name
                continue
            entry = {"role": "param", **self.describe(meta, node)}
            if spec.kind == kinds.CONSTANT_TENSOR:
                entry["role"] = "const"
            elif spec.kind == kinds.BUFFER:
                entry["buffer"] = True
            self.add_values(self.declare(node, name, entry), entry, value)

    def first_names(self):
        """The first parameter or buffer, in the module's order, at each piece of storage."""
        names = {}
        for name, value in self.program.state_dict.items():
            names.setdefault(storage_key(value), name)
        names.pop(None, None)
        return names

    def value_of(self, target):
        for table in (self.program.state_dict, self.program.constants):
            if target in table:
                return table[target]
        raise Refused(f"the values of '{target}' are not in the exported program")

    def add_values(self, name, entry, value):
        number = float(value) if entry["role"] == "const" and value.dim() == 0 else None
        # Whole numbers beyond 2**53 would not survive as JSON floats.
        if number is not None and (not math.isfinite(number) or abs(number) < 2**53):
            entry["scalar"] = number if math.isfinite(number) else str(number)
            return
        if self.params == "generator" and entry["role"] == "param":
            chosen = choose_generator(value, self.seed + len(self.tensors), entry.get("buffer", False))
            if chosen is not None:
                entry["generator"] = chosen
                return
        entry["key"] = name
        self.weights[name] = value

    def declare(self, node, name, entry):
        name = self.unique(name)
        self.names[node] = name
        self.tensors[name] = entry
        return name

    def unique(self, name):
        taken = set(self.names.values())
        candidate, count = name, 1
        while candidate in taken:
            count += 1
            candidate = f"{name}.{count}"
        return candidate

    def describe(self, meta, node):
        if meta.dtype not in DTYPES:
            raise Refused(f"dtype {meta.dtype} is not supported", place=self.place(node))
        return {"dtype": DTYPES[meta.dtype], "shape": [int(extent) for extent in meta.shape]}

    # Operators.

    def add_nodes(self, known, supported):
        nodes = []
        for node in self.program.graph.nodes:
            if node.op in ("placeholder", "output"):
                continue
            if node.op != "call_function":
                raise Refused(f"a {node.op} node is not supported", place=self.place(node))
            if getattr(node.target, "__name__", "") == "getitem":
                continue  # named with the operator's other results
            if not node.users:
                continue
            operator = str(node.target)
            self.check_operator(node, operator, known, supported)
            row = {"op": operator, "args": self.encode_arguments(node), "outputs": self.encode_outputs(node)}
            place = self.place(node)
            if place:
                row["place"] = place
            nodes.append(row)
        return nodes

    def check_operator(self, node, operator, known, supported):
        place = self.place(node)
        arguments = self.bind_arguments(node)
        if "dropout" in operator and arguments.get("train") is not False and arguments.get("p", 1) != 0:
            raise Refused(
                f"{operator}: dropout with p={arguments.get('p')} in training mode is random",
                place=place,
                notes=["set p=0 or put the module in evaluation mode (--eval)"],
            )
        if operator in known:
            return
        if RANDOM.match(operator):
            raise Refused(f"operator {operator} draws random numbers: take them as an input", place=place)
        raise Refused(f"operator {operator} is not supported", place=place, notes=["supported: " + " ".join(supported)])

    def bind_arguments(self, node):
        schema = node.target._schema.arguments if hasattr(node.target, "_schema") else []
        bound = {}
        for position, argument in enumerate(schema):
            if argument.name in IGNORED:
                continue
            if position < len(node.args):
                bound[argument.name] = node.args[position]
            elif argument.name in node.kwargs:
                bound[argument.name] = node.kwargs[argument.name]
            elif argument.has_default_value():
                bound[argument.name] = argument.default_value
        return bound

    def encode_arguments(self, node):
        place = self.place(node)
        return {name: self.encode(value, name, place) for name, value in self.bind_arguments(node).items()}

    def encode(self, value, name, place):
        if isinstance(value, torch.fx.Node):
            if value not in self.names:
                raise Refused(f"argument {name} is not a tensor with a name", place=place)
            return {"tensor": self.names[value]}
        if isinstance(value, (list, tuple)):
            return [self.encode(item, name, place) for item in value]
        if isinstance(value, torch.dtype):
            if value not in DTYPES:
                raise Refused(f"dtype {value} is not supported", place=place)
            return {"dtype": DTYPES[value]}
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise Refused(f"argument {name} has type {type(value).__name__}, which is not supported", place=place)

    def encode_outputs(self, node):
        meta = node.meta.get("val")
        if isinstance(meta, torch.Tensor):
            return [self.encode_output(node, meta)]
        parts = [None] * len(meta)
        for user in node.users:
            parts[user.args[1]] = user
        return [self.encode_output(part, meta[index]) if part is not None and part.users else None for index, part in enumerate(parts)]

    def encode_output(self, node, meta):
        name = self.unique(node.name)
        self.names[node] = name
        return {"name": name, **self.describe(meta, node)}

    # Results.

    def find_results(self):
        kinds = torch.export.graph_signature.OutputKind
        (output,) = self.program.graph.find_nodes(op="output")
        outputs, updates = [], []
        for node, spec in zip(output.args[0], self.signature.output_specs):
            if not isinstance(node, torch.fx.Node) or node not in self.names:
                raise Refused(f"the module returns {node!r}, which is not a tensor")
            name = self.names[node]
            if spec.kind == kinds.USER_OUTPUT:
                outputs.append(name)
            elif spec.kind in (kinds.BUFFER_MUTATION, kinds.USER_INPUT_MUTATION):
                updates.append({"tensor": spec.target, "value": name})
            else:
                raise Refused(f"a result of kind {spec.kind.name} is not supported")
        if not outputs:
            raise Refused("the module returns no tensor")
        return outputs, updates

    def place(self, node):
        """The innermost line of the user's code that made a node, as "file.py:12"."""
        frames = FRAME.findall(node.meta.get("stack_trace") or "")
        if not frames:
            return ""
        library = os.path.dirname(torch.__file__)
        own = [frame for frame in frames if not frame[0].startswith(library)]
        if self.path:
            own = [frame for frame in own if frame[0].startswith(os.path.dirname(self.path) + os.sep)] or own
        file, line = (own or frames)[-1]
        root = os.path.dirname(self.path) if self.path else os.path.dirname(file)
        return f"{show_path(file, root)}:{line}"
