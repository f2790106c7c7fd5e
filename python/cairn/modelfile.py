"""Loads a file in KernelBench's form: class Model, get_inputs(), get_init_inputs()."""

import importlib.util
import os
import sys

from cairn.errors import EXIT_USAGE, Refused, first_line, user_place

REQUIRED = ("Model", "get_inputs", "get_init_inputs")


def load_file(path):
    """Runs the file and returns its namespace as a module."""
    if not os.path.isfile(path):
        raise Refused("no such file", place=path, exit_code=EXIT_USAGE)
    spec = importlib.util.spec_from_file_location("cairn_user_model", path)
    if spec is None:
        raise Refused("not a Python file", place=path, exit_code=EXIT_USAGE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["cairn_user_model"] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: the file is not ours
        raise Refused(f"the file raised {first_line(error)}", place=user_place(error, path)) from error
    finally:
        sys.path.pop(0)
    missing = [name for name in REQUIRED if not hasattr(module, name)]
    if missing:
        raise Refused(
            f"the file defines no {' and no '.join(missing)}",
            place=os.path.basename(path),
            notes=["expected class Model(torch.nn.Module), get_inputs() and get_init_inputs()"],
        )
    return module


def call_user(what, path, function, *args):
    """Calls the user's code; what it raises becomes a refusal."""
    try:
        return function(*args)
    except (KeyboardInterrupt, Refused):
        raise
    except BaseException as error:
        raise Refused(f"{what} raised {first_line(error)}", place=user_place(error, path)) from error


def make_model(module, path, seed):
    """The Model, built under a seed, in the mode it comes in."""
    import torch

    torch.manual_seed(seed)
    arguments = call_user("get_init_inputs", path, module.get_init_inputs)
    if not isinstance(arguments, (list, tuple)):
        raise Refused("get_init_inputs returns no list", place=os.path.basename(path))
    model = call_user("Model", path, lambda: module.Model(*arguments))
    if not isinstance(model, torch.nn.Module):
        raise Refused("Model is not a torch.nn.Module", place=os.path.basename(path))
    return model


def make_inputs(module, path):
    """What get_inputs returns, as fake tensors (no memory) where it runs under them, else as real ones."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    inputs = None
    try:
        with FakeTensorMode():
            inputs = module.get_inputs()
    except KeyboardInterrupt:
        raise
    except BaseException:  # data-dependent or foreign code: run it for real, and report that run's error
        inputs = call_user("get_inputs", path, module.get_inputs)
    if not isinstance(inputs, (list, tuple)):
        raise Refused("get_inputs returns no list", place=os.path.basename(path))
    return tuple(inputs)
