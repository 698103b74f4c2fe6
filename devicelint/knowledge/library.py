"""Looks up what torch's functions, methods and attributes do to devices."""

from __future__ import annotations

import ast
import functools
from dataclasses import replace

from devicelint.knowledge import grammar
from devicelint.knowledge.signature import Form, Parameter, Result, Role, Signature, Slot
from devicelint.knowledge.stubs_index import Definition, index

SAME_MODULE = {
    "torch.functional": "torch",
    "torch._C._VariableFunctions": "torch",
    "torch._C._nn": "torch.nn.functional",
    "torch.nn.utils.clip_grad": "torch.nn.utils",
    "torch.autograd.variable": "torch.autograd",
    "torch.nn.parameter": "torch.nn",
    "einops.einops": "einops",
    "timm.layers": "torch.nn.init",
    "timm.models.layers": "torch.nn.init",
    "torchmetrics.functional.classification": "torchmetrics.functional",
    "torchmetrics.functional.regression": "torchmetrics.functional",
    "torchmetrics.functional.retrieval": "torchmetrics.functional",
}
"""Modules that only give another module's functions a second address."""

_RECEIVER = Slot(Role.OPERAND, "D")


@functools.cache
def function(qualified_name: str) -> Signature | None:
    """The signature of a function such as `torch.nn.functional.relu`; None: not known."""
    module, _, name = qualified_name.rpartition(".")
    module = SAME_MODULE.get(module, module)
    if module == "torch.Tensor":
        return tensor_method(name)
    definition = index(module).get(name)
    if definition is not None:
        return _signature(module, definition)
    return tensor_method(name) if module == "torch" and _is_in_place(name) else None


@functools.cache
def tensor_method(name: str) -> Signature | None:
    """The signature of a method of tensors, whose first argument is the receiver."""
    definition = index("torch.Tensor").get(name)
    if definition is not None:
        return _signature("torch.Tensor", definition)
    if _is_in_place(name):
        plain = tensor_method(name[:-1])
        return None if plain is None else _in_place(plain)
    stated = function(f"torch.{name}")
    return stated if stated is not None and _takes_tensor_first(stated) else None


@functools.cache
def tensor_attribute(name: str) -> Result | None:
    """What reading an attribute of a tensor on the device `D` gives; None: not known."""
    definition = index("torch.Tensor").get(name)
    if definition is None:
        return None
    node = definition.parse()
    if not isinstance(node, ast.AnnAssign):
        return None
    try:
        return grammar.result(node.annotation)
    except grammar.GrammarError as error:
        raise definition.rejected(error) from error


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _signature(module: str, definition: Definition) -> Signature | None:
    node = definition.parse()
    try:
        if isinstance(node, ast.FunctionDef):
            return grammar.signature(node)
    except grammar.GrammarError as error:
        raise definition.rejected(error) from error
    if isinstance(node, ast.Assign):
        return _aliased(module, definition, ast.unparse(node.value))
    return None


def _aliased(module: str, definition: Definition, target: str) -> Signature:
    qualified = target if "." in target else f"{module}.{target}"
    found = function(qualified)
    if found is None:
        raise definition.error(1, f"no stub for {qualified}")
    return found


def _in_place(plain: Signature) -> Signature | None:
    """`add_` from `add`: the receiver is written to, so it is never excused."""
    if not _takes_tensor_first(plain):
        return None
    receiver = replace(plain.parameters[0], slot=_RECEIVER)
    rest: tuple[Parameter, ...] = plain.parameters[1:]
    return Signature(f"{plain.name}_", (receiver, *rest), Result(Form.SELF))


def _takes_tensor_first(stated: Signature) -> bool:
    first = stated.parameters[0].slot if stated.parameters else None
    return first is not None and not first.sequence and first.role in (Role.OPERAND, Role.FREE)
