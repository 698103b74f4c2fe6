"""Which names at a place of the program hold a device, and which are free for a new one."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    DEVICE_TYPES,
    Device,
    InvalidDevice,
    Known,
    Opaque,
    Unsure,
    is_accelerator,
    parse_device,
)
from devicelint.domain.history import Site
from devicelint.domain.values import (
    Const,
    DeviceHandle,
    External,
    Instance,
    Module,
    Outside,
    Value,
)
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.torch.device_arguments import is_hard

USUAL_NAMES = ("device", "dev", "DEVICE", "torch_device")
"""What scripts call the device that they chose, the usual name before others."""
_SETTINGS = re.compile(r"\b((?:args|opt|opts|options|cfg|config|hparams|flags|FLAGS)\.device)\b")
_NAMES_A_DEVICE = re.compile(r"dev|gpu|cuda|rank|accelerator", re.IGNORECASE)


def may_be_accelerator(device: Device) -> bool:
    """Whether the code sends the value to an accelerator, or to a device of somebody's choice.

    Not every argument of `.to()` that cannot be read is a device: it has to be named like one.
    """
    if isinstance(device, Opaque):
        return _NAMES_A_DEVICE.search(device.origin.rpartition(".")[2]) is not None
    return is_accelerator(device)


@dataclass(frozen=True)
class NamedDevice:
    """An expression that holds a device; `literal` is what hard-codes it, where something does."""

    code: str
    literal: Site = field(default=None, compare=False, repr=False)
    is_object: bool = field(default=False, compare=False)
    """Whether it is a `torch.device` for sure."""
    is_type: bool = field(default=False, compare=False)
    """Whether it is a string that names a type alone, such as "cuda"."""


def frame_of(run: Run, literal: Site, use: Site) -> Frame | None:
    """The frame in which a literal is an argument of a call; None where it is something else."""
    frame: Frame | None = run.frame
    call: Site = use
    while frame is not None:
        if call is literal or (
            isinstance(call, cst.Call) and any(one.value is literal for one in call.args)
        ):
            return frame
        call, frame = frame.site, frame.caller
    return None


def devices_at_hand(run: Run, frame: Frame, wanted: Known) -> Iterator[NamedDevice]:
    """What is bound here and holds the wanted device, or the device that stands for it.

    A parameter and the function's own variables come first, then the attributes of `self`, then
    the variables around.
    """
    for ref in dict.fromkeys((frame.ref, *frame.scopes, frame.home)):
        yield from _held(run, run.state.fields(ref).items(), "", wanted)
        if ref == frame.ref and isinstance(frame.receiver, (Module, Instance)):
            yield from _held(run, run.state.fields(frame.receiver.ref).items(), "self.", wanted)
    for code in _settings_in(run.module_code):
        if isinstance(run.lookup(code.partition(".")[0]), Outside):
            yield NamedDevice(code)


@functools.lru_cache(maxsize=1)
def _settings_in(text: str) -> tuple[str, ...]:
    """The settings that a file speaks of, each once."""
    return tuple(dict.fromkeys(_SETTINGS.findall(text)))


def _held(
    run: Run, fields: Iterable[tuple[str, Value]], prefix: str, wanted: Known
) -> Iterator[NamedDevice]:
    found = [
        (name, value)
        for name, value in fields
        if name.isidentifier() and _stands_for(run, name, value, wanted)
    ]
    for name, value in sorted(found, key=lambda one: (_rank(one[0]), one[0])):
        is_object = isinstance(value, DeviceHandle) and value.is_object
        yield NamedDevice(prefix + name, _hard_literal(value), is_object, _is_type(value))


def _hard_literal(value: Value) -> Site:
    """What to change where the variable itself is hard-coded; None where it is not."""
    if not isinstance(value, (Const, DeviceHandle)) or _device_of(value) == CPU:
        return None
    return value.site if is_hard(value) else None


def _is_type(value: Value) -> bool:
    """A variable is a type on one machine and no string of another kind on the other."""
    return isinstance(value, Const) and value.value in DEVICE_TYPES


def _rank(name: str) -> int:
    return USUAL_NAMES.index(name) if name in USUAL_NAMES else len(USUAL_NAMES)


def _stands_for(run: Run, name: str, value: Value, wanted: Known) -> bool:
    if isinstance(value, Outside):
        return name in USUAL_NAMES and value.origin.rpartition(".")[2] in USUAL_NAMES
    if isinstance(value, External):
        return name in USUAL_NAMES and value.name.partition(".")[0] != "torch"
    device = _device_of(value)
    if device is None or isinstance(device, Unsure):
        return False
    if not isinstance(device, Known):
        return name in USUAL_NAMES
    if device == CPU:
        return run.world.accelerators == 0
    return device.type == wanted.type and (device.index or 0) == (wanted.index or 0)


def _device_of(value: Value) -> Device | None:
    if isinstance(value, DeviceHandle):
        return value.device
    if isinstance(value, Const) and isinstance(value.value, str):
        try:
            return parse_device(value.value)
        except InvalidDevice:
            return None
    return None


def is_free(run: Run, name: str, frame: Frame) -> bool:
    """Whether a new variable of the file could have this name, and be seen from a frame."""
    if name in names_bound_in(run, run.module):
        return False
    if any(name in run.state.fields(ref) for ref in frame.scopes):
        return False
    return frame.ref == frame.home or name not in names_bound_in(run, frame.node)


class BoundNames(Notes):
    """The names that a scope binds anywhere, for those scopes where somebody asked."""

    def __init__(self) -> None:
        self.by_scope: dict[cst.CSTNode, set[str]] = {}


def names_bound_in(run: Run, scope: cst.CSTNode) -> set[str]:
    """The names that one scope binds, anywhere in it."""
    known = run.notes(BoundNames).by_scope
    names = known.get(scope)
    if names is None:
        binder = _Binder(scope)
        scope.visit(binder)
        names = known[scope] = binder.names
    return names


class _Binder(cst.CSTVisitor):
    """Gathers the names that one scope binds, anywhere in it."""

    def __init__(self, scope: cst.CSTNode) -> None:
        self._scope = scope
        self.names: set[str] = set()

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        if node is not self._scope:
            self.names.add(node.name.value)
        return node is self._scope

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        self.names.add(node.name.value)
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return node is self._scope

    def visit_Param(self, node: cst.Param) -> None:
        self.names.add(node.name.value)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._bind(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._bind(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._bind(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._bind(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._bind(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self._bind(node.name)

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        if node.asname is None:
            self.names.add(node.evaluated_name.partition(".")[0])

    def _bind(self, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            self.names.add(target.value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                self._bind(element.value)
