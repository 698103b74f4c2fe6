"""Looks up torch's module classes: what forward asks of devices, and what they keep."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from enum import Enum

from devicelint.knowledge import grammar
from devicelint.knowledge.signature import Role, Signature
from devicelint.knowledge.stubs_index import Definition, index


class ModuleKind(Enum):
    """The base class that a stub gives a module class."""

    LEAF = "Module"
    """Does its own computation in a known forward."""
    LOSS = "LossModule"
    """A loss: `reduction="none"` in the constructor makes its result more than 0-dim."""
    CONTAINER = "Container"
    """Holds the modules or parameters it is made from; where they are is where it is."""
    WRAPPER = "Wrapper"
    """Calls the one module it is made from, and moves the inputs to it by itself."""


@dataclass(frozen=True, slots=True)
class ModuleKnowledge:
    """What is known of one class of `torch.nn`."""

    name: str
    kind: ModuleKind
    forward: Signature | None
    """Without `self`; None where forward depends on what the module contains."""
    init: Signature | None
    """The constructor without `self`, where it has something to do with devices."""

    @property
    def full_name(self) -> str:
        """What a module of the class is called: that of a project has its full name already."""
        return self.name if "." in self.name else f"torch.nn.{self.name}"

    @property
    def owns_tensors(self) -> bool:
        """Whether it has parameters or buffers of its own, and so a device."""
        return self.forward is not None and self.forward.owns is not None

    @property
    def buffers(self) -> tuple[str, ...]:
        """The arguments of the constructor that become buffers of the module."""
        return () if self.init is None else _with_role(self.init, Role.BUFFER)


@functools.cache
def module_class(qualified_name: str) -> ModuleKnowledge | None:
    """What is known of a class such as `torch.nn.Linear`; None: not known."""
    module, _, name = qualified_name.rpartition(".")
    if module.startswith(("torch.nn.modules", "torch.nn.parallel")):
        module = "torch.nn"
    if module != "torch.nn":
        return None
    definition = index(module).get(name)
    if definition is None:
        return None
    node = definition.parse()
    return _knowledge(definition, node) if isinstance(node, ast.ClassDef) else None


def _knowledge(definition: Definition, node: ast.ClassDef) -> ModuleKnowledge:
    base = ast.unparse(node.bases[0]) if node.bases else ""
    try:
        methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
        read = {name: grammar.signature(m, drop_self=True) for name, m in methods.items()}
    except grammar.GrammarError as error:
        raise definition.rejected(error) from error
    if base in {kind.value for kind in ModuleKind}:
        return ModuleKnowledge(
            node.name, ModuleKind(base), read.get("forward"), read.get("__init__")
        )
    inherited = _required(definition, base)
    forward = read.get("forward", inherited.forward)
    return ModuleKnowledge(node.name, inherited.kind, forward, read.get("__init__", inherited.init))


def _required(definition: Definition, name: str) -> ModuleKnowledge:
    found = module_class(f"torch.nn.{name}")
    if found is None:
        raise definition.error(1, f"no stub for torch.nn.{name}")
    return found


def _with_role(signature: Signature, role: Role) -> tuple[str, ...]:
    slots = ((p.name, p.slot) for p in signature.parameters)
    return tuple(name for name, slot in slots if slot is not None and slot.role is role)
