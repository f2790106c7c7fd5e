"""Times a compiled kernel beside PyTorch: `python -m cairn.compare MODULE.py KERNEL.json --threads N`.

One process holds both and alternates blocks of calls (A B A B), so that both meet the same machine. Prints a JSON
object on one line: seconds a call (medians) of eager, torch.compile (0 unless asked for) and our kernel, the largest
absolute difference between the outputs, and a note. With --compile a first line holds what is known without it, so that
a compilation that never ends costs nothing else.
"""

import argparse
import ctypes
import json
import os
import signal
import statistics
import sys
import threading
import time

BLOCK_SECONDS = 0.05
ROUNDS = 9
MEASURE_SECONDS = 10  # beyond, fewer rounds, but three


def load_kernel(spec):
    library = ctypes.CDLL(spec["object"])
    function = getattr(library, spec["entry"])
    function.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]
    function.restype = ctypes.c_int
    return library, function


def aligned_bytes(count):
    """A 64-byte aligned buffer: (owner, address)."""
    owner = ctypes.create_string_buffer(count + 64)
    address = (ctypes.addressof(owner) + 63) // 64 * 64
    return owner, address


def time_block(call, calls):
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def calls_for(call):
    """Warms up and picks how many calls make a block."""
    for _ in range(2):
        call()
    once = max(1e-7, min(time_block(call, 1) for _ in range(3)))
    return max(1, min(10000, int(BLOCK_SECONDS / once)))


def measure(calls_by_name):
    """Median seconds a call for each of several callables, in alternating blocks."""
    counts = {name: calls_for(call) for name, call in calls_by_name.items()}
    samples = {name: [] for name in calls_by_name}
    start = time.perf_counter()
    for k in range(ROUNDS):
        if k >= 3 and time.perf_counter() - start > MEASURE_SECONDS:
            break
        for name, call in calls_by_name.items():
            call()  # brings its data back into the caches
            samples[name].append(time_block(call, counts[name]))
    return {name: statistics.median(values) for name, values in samples.items()}


def make_call(torch, spec, graph, model, inputs):
    """A function that runs our kernel on the module's own inputs and parameters, and its outputs."""
    dtypes = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
              "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8,
              "bool": torch.bool}
    names = [name for name, entry in graph["tensors"].items() if entry["role"] == "in"]
    by_graph = dict(zip(names, inputs))
    state = dict(model.named_parameters())
    state.update(dict(model.named_buffers()))
    library, function = load_kernel(spec)
    tensors, outputs = [], {}
    for param in spec["params"]:
        source = spec["bindings"].get(param["name"])
        if param["role"] == "out":
            tensor = torch.empty(param["shape"], dtype=dtypes[param["dtype"]])
            outputs[param["name"]] = tensor
        elif source in by_graph:
            tensor = by_graph[source]
        elif source in state:
            tensor = state[source].detach()
        else:
            raise KeyError(f"no value for {param['name']} ({source})")
        tensors.append(tensor.reshape(param["shape"]).to(dtypes[param["dtype"]]).contiguous()
                       if param["role"] != "out" else tensor)
    pointers = (ctypes.c_void_p * len(tensors))(*[t.data_ptr() for t in tensors])
    owner, workspace = aligned_bytes(spec["workspace_bytes"])

    def call(keep=(library, tensors, owner)):
        status = function(pointers, workspace)
        if status != 0:
            raise RuntimeError(f"run-time check {status} failed")

    return call, [outputs[name] for name in spec["outputs"]]


def largest_difference(torch, reference, ours):
    reference = list(reference) if isinstance(reference, (tuple, list)) else [reference]
    worst = 0.0
    for a, b in zip(reference, ours):
        a, b = a.detach().double(), b.double().reshape(a.shape)
        both = torch.isnan(a) & torch.isnan(b) | (a == b)
        difference = torch.where(both, torch.zeros_like(a), (a - b).abs())
        if difference.numel():
            worst = max(worst, float(difference.max()))
    return worst


def compile_within(torch, model, inputs, seconds):
    """The compiled model after its first call, or None and why not. The limit needs the main thread."""
    def give_up(number, frame):
        raise TimeoutError(f"torch.compile did not finish within {seconds} s")

    limited = seconds > 0 and threading.current_thread() is threading.main_thread()
    previous = signal.signal(signal.SIGALRM, give_up) if limited else None
    try:
        if limited:
            signal.alarm(seconds)
        compiled = torch.compile(model)
        compiled(*inputs)
        return compiled, ""
    except TimeoutError as failure:
        return None, str(failure)
    except Exception as failure:  # torch.compile needs a working C++ tool chain
        text = str(failure).strip() or type(failure).__name__
        return None, f"torch.compile did not run: {text.splitlines()[0]}"
    finally:
        if limited:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)


def answer(times, error, note):
    return {"eager": times["eager"], "compile": times.get("compile", 0.0), "ours": times["ours"],
            "max_error": error, "note": note}


def run(arguments, report):
    import torch

    from cairn.modelfile import load_file, make_model

    torch.set_num_threads(arguments.threads)
    with open(arguments.kernel, encoding="utf-8") as file:
        spec = json.load(file)
    with open(spec["graph"], encoding="utf-8") as file:
        graph = json.load(file)
    module = load_file(arguments.module)
    model = make_model(module, arguments.module, arguments.seed)
    torch.manual_seed(arguments.seed)
    inputs = [x for x in module.get_inputs() if isinstance(x, torch.Tensor)]
    with torch.no_grad():
        call, outputs = make_call(torch, spec, graph, model, inputs)
        reference = model(*inputs)
        call()
        error = largest_difference(torch, reference, outputs)
        calls = {"ours": call, "eager": lambda: model(*inputs)}
        times = measure(calls)
        if not arguments.compile:
            report(answer(times, error, ""))
            return
        report(answer(times, error, "torch.compile was not timed: its process ended first"))
        compiled, note = compile_within(torch, model, inputs, arguments.compile_seconds)
        if compiled is not None:
            calls["compile"] = lambda: compiled(*inputs)
            times = measure(calls)
        report(answer(times, error, note))


def main(words=None):
    parser = argparse.ArgumentParser(prog="cairn.compare", description=__doc__)
    parser.add_argument("module")
    parser.add_argument("kernel")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compile", action="store_true", help="time torch.compile too")
    parser.add_argument("--compile-seconds", type=int, default=300, help="give up on torch.compile after so long; 0: never")
    arguments = parser.parse_args(words)
    try:
        import torch  # noqa: F401
    except ImportError:
        print(f"PyTorch is not installed in {sys.executable}", file=sys.stderr)
        return 4
    try:
        run(arguments, lambda result: print(json.dumps(result), flush=True))
    except (KeyError, OSError, RuntimeError, ValueError) as failure:
        print(f"{type(failure).__name__}: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
