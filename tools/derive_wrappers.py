"""Tell what the CUDA wrappers that torchgen generates check, for the torchgen that is imported.

PyTorch's build writes, for each operator with a CUDA kernel, a wrapper that compares the devices
of its tensors before it calls the kernel. torchgen, which writes it, is in every wheel together
with the list of operators: so the very text of the wrappers is made here, and read. Run as a
script (by `tools/derive_device_rules.py`, with the torchgen of another torch on its path), this
prints what it found as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import torchgen
from torchgen.dest.register_dispatch_key import RegisterDispatchKey
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import BackendIndex, DispatchKey, NativeFunction, NativeFunctionsGroup
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import Target

Operator: TypeAlias = dict[str, Any]
"""What is known of an operator: its `kernel`, `wrapper`, `checked`, `arguments`, `written`, ..."""

_REGISTERED = re.compile(r'm\.impl\("([^"]+)",\s*TORCH_FN\((\w+)\)')
_CHECKED = re.compile(r'check_and_update_common_device\(common_device, \w+, "(\w+)", "(\w+)"\)')
_REMARK = re.compile(r"^\s+device_check: NoCheck\s*#\s*(.*)$")


def operators() -> Iterator[tuple[str, Operator]]:
    """Yield each operator that takes more than one tensor, by its name with its overload."""
    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    source = folder / "native_functions.yaml"
    parsed = parse_native_yaml(str(source), str(folder / "tags.yaml"))
    groups = get_grouped_native_functions(parsed.native_functions)
    index = parsed.backend_indices[DispatchKey.CUDA]
    wrappers = dict(_found(_REGISTERED, _generated(groups, index, Target.REGISTRATION)))
    checks = _checks(_generated(groups, index, Target.ANONYMOUS_DEFINITION))
    remarks = _remarks(source.read_text(encoding="utf-8"))
    for group in groups:
        structured = _structure(group)
        for function in _functions(group):
            name = str(function.func.name)
            wrapper = wrappers.get(name)
            operator = _described(function) | {
                "wrapper": wrapper,
                "checked": checks.get(wrapper or "", []),
                "iterator": structured == "iterator" or remarks.get(name) == "TensorIterator",
                "structured": structured,
            }
            if len(operator["arguments"]) > 1 or operator["lists"]:
                yield name, operator


def _described(function: NativeFunction) -> Operator:
    arguments = function.func.arguments
    tensors = [a for a in (*arguments.out, *arguments.flat_positional) if a.type.is_tensor_like()]
    return {
        "arguments": [argument.name for argument in tensors],
        "lists": [argument.name for argument in tensors if argument.type.is_list_like()],
        "written": [argument.name for argument in tensors if argument.is_write],
        "composite": _composite(function),
    }


def _composite(function: NativeFunction) -> str:
    """Say whether autograd sees through it (implicit), or takes it for one step (explicit)."""
    if "generated" in function.tags:
        return "generated"
    if function.has_composite_implicit_autograd_kernel:
        return "implicit"
    explicit = function.has_composite_explicit_autograd_kernel
    explicit |= function.has_composite_explicit_autograd_non_functional_kernel
    return "explicit" if explicit else ""


def _structure(group: NativeFunction | NativeFunctionsGroup) -> str:
    """Say what a structured kernel derives from: an `iterator`, or `plain`; else nothing."""
    if not (isinstance(group, NativeFunctionsGroup) and group.structured):
        return ""
    return "iterator" if group.out.structured_inherits == "TensorIteratorBase" else "plain"


def _functions(group: NativeFunction | NativeFunctionsGroup) -> list[NativeFunction]:
    return list(group.functions()) if isinstance(group, NativeFunctionsGroup) else [group]


def _generated(groups: Any, index: BackendIndex, target: Target) -> str:
    """Return the C++ that PyTorch's build writes for CUDA, of one part of it."""
    write = RegisterDispatchKey(
        index,
        target,
        SelectiveBuilder.get_nop_selector(),
        rocm=False,
        symint=True,
        class_method_name=None,
        skip_dispatcher_op_registration=False,
    )
    return "\n".join(text for group in groups for text in write(group))


def _found(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    for match in pattern.finditer(text):
        yield match[1], match[2]


def _checks(text: str) -> dict[str, list[str]]:
    """Return the arguments that each wrapper compares, in its order."""
    checks: dict[str, list[str]] = {}
    for wrapper, argument in _found(_CHECKED, text):
        checks.setdefault(wrapper, []).append(argument)
    return checks


def _remarks(text: str) -> dict[str, str]:
    """Return why an operator's devices are not compared, where PyTorch's list says so."""
    remarks: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("- func: "):
            name = line.removeprefix("- func: ").partition("(")[0]
        elif remark := _REMARK.match(line):
            remarks[name] = remark[1].strip()
    return remarks


if __name__ == "__main__":
    print(json.dumps(dict(operators())))
