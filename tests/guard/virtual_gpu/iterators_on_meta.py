"""Asks torch itself which operators excuse a CPU scalar, and prints what it answers as JSON.

The meta device runs the very code that builds CUDA's iterators, and to an iterator it is a device
like CUDA: it refuses, and excuses, what CUDA's does. Only torch's stand-ins in Python must not be
in its way, so they are left out, before torch brings them in. Takes the names of operators, a
space between, on standard input; answers with what torch said of each of its inputs.
"""

from __future__ import annotations

import json
import sys
from types import ModuleType

sys.modules["torch._meta_registrations"] = ModuleType("torch._meta_registrations")

import torch  # noqa: E402

DTYPES = (torch.float32, torch.int64, torch.bool)
OF_TYPE = {"number": 1, "int": 1, "Optional[str]": None}


def main() -> None:
    operators = {name: operator(name) for name in sys.stdin.read().split()}
    json.dump({name: dict(answers(found)) for name, found in operators.items()}, sys.stdout)


def operator(name: str):
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


def answers(called):
    """Yield each input, and what torch says where it alone is a scalar of the CPU."""
    for argument in called._schema.arguments:
        written = argument.alias_info is not None and argument.alias_info.is_write
        if "Tensor" in str(argument.type) and not written:
            yield argument.name, answer(called, argument.name)


def answer(called, scalar: str) -> str:
    """Return `runs`, or why torch refuses; a refusal of a dtype is none."""
    refusals = []
    for dtype in DTYPES:
        args, kwargs = arguments(called._schema, scalar, dtype)
        try:
            called(*args, **kwargs)
        except (RuntimeError, NotImplementedError) as error:
            refusals.append(str(error).splitlines()[0])
        else:
            return "runs"
    return next((text for text in refusals if "device" in text or "CPU" in text), refusals[0])


def arguments(schema, scalar: str, dtype: torch.dtype):
    args, kwargs = [], {}
    for argument in schema.arguments:
        if "Tensor" in str(argument.type):
            host = argument.name == scalar
            shape = () if host else (3,)
            value = torch.ones(shape, dtype=dtype, device="cpu" if host else "meta")
        elif argument.has_default_value():
            continue
        else:
            value = OF_TYPE[str(argument.type)]
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return args, kwargs


if __name__ == "__main__":
    main()
