"""Parameter values: generators (bit for bit those of the C++ side) and safetensors files."""

import json
import math
import os
import struct
import tempfile

import numpy
import torch

from cairn.errors import Refused

DTYPES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
    torch.bool: "bool",
}  # fmt: skip
SAFETENSORS = {
    "f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16", "i64": "I64", "i32": "I32", "i16": "I16", "i8": "I8",
    "u8": "U8", "bool": "BOOL",
}  # fmt: skip


def mix64(x):
    """The finalizer of splitmix64 on an array of uint64."""
    with numpy.errstate(over="ignore"):
        x = x + numpy.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return x ^ (x >> numpy.uint64(31))


def generate(generator, shape, dtype):
    """The values that a generator of graph.json stands for."""
    count = math.prod(shape)
    if generator["kind"] == "constant":
        return torch.full(shape, float(generator["value"]), dtype=torch.float64).to(dtype)
    with numpy.errstate(over="ignore"):
        start = mix64(numpy.array([generator["seed"]], dtype=numpy.uint64))
        bits = mix64(start + numpy.arange(count, dtype=numpy.uint64)) >> numpy.uint64(40)
    low, high = float(generator["low"]), float(generator["high"])
    values = low + (high - low) * (bits.astype(numpy.float64) / 16777216.0)
    return torch.from_numpy(values).reshape(shape).to(dtype)


def choose_generator(value, seed, is_buffer):
    """A generator like the value: the constant it is, else uniform with its spread; None if neither would do."""
    value = value.detach()
    if value.numel() == 0:
        return {"kind": "constant", "value": 0.0}
    first = value.flatten()[0]
    if bool((value == first).all()):
        number = float(first)
        return {"kind": "constant", "value": number} if math.isfinite(number) else None
    if is_buffer or not value.is_floating_point():
        return None
    spread = float(f"{float(value.double().std()) * math.sqrt(3):.4g}")
    return {"kind": "uniform", "low": -spread, "high": spread, "seed": seed}


def tensor_bytes(value):
    """Row-major bytes."""
    flat = value.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def write_atomic(path, parts):
    """Writes the byte strings to a temporary name beside path and renames it."""
    directory = os.path.dirname(path) or "."
    handle, temporary = tempfile.mkstemp(dir=directory, prefix=os.path.basename(path) + ".")
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_safetensors(path, tensors):
    """Writes a dict of tensors, names sorted."""
    header, parts, offset = {}, [], 0
    for name in sorted(tensors):
        raw = tensor_bytes(tensors[name])
        dtype = SAFETENSORS[DTYPES[tensors[name].dtype]]
        header[name] = {"dtype": dtype, "shape": list(tensors[name].shape), "data_offsets": [offset, offset + len(raw)]}
        parts.append(raw)
        offset += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    write_atomic(path, [struct.pack("<Q", len(text)), text, *parts])


def read_safetensors(path):
    """A dict of tensors."""
    by_name = {SAFETENSORS[name]: dtype for dtype, name in DTYPES.items()}
    with open(path, "rb") as file:
        raw = file.read()
    (size,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + size])
    out = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        flat = torch.frombuffer(bytearray(raw[begin:end]), dtype=torch.uint8) if end > begin else torch.empty(0, dtype=torch.uint8)
        out[name] = flat.view(by_name[entry["dtype"]]).reshape(entry["shape"])
    return out


def graph_values(graph_path):
    """Parameters and buffers of a graph.json by name."""
    with open(graph_path, encoding="utf-8") as file:
        graph = json.load(file)
    weights = {}
    if graph.get("weights"):
        weights = read_safetensors(os.path.join(os.path.dirname(graph_path), graph["weights"]))
    names = {text: dtype for dtype, text in DTYPES.items()}
    out = {}
    for name, tensor in graph["tensors"].items():
        if tensor["role"] != "param":
            continue
        if "generator" in tensor:
            out[name] = generate(tensor["generator"], tensor["shape"], names[tensor["dtype"]])
        else:
            out[name] = weights[tensor["key"]]
    return out


def apply_parameters(module, graph_path):
    """Copies the values of a graph.json into a module's parameters and buffers, by name."""
    own = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    with torch.no_grad():
        for name, value in graph_values(graph_path).items():
            if name not in own:
                raise Refused(f"the module has no parameter '{name}'", place=graph_path)
            own[name].copy_(value)
