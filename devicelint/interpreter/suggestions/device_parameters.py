"""How a device gets to where none is at hand: as a new parameter, that each call gives.

What a function of another file needs is added to its parameters, with None for its default, so
that whoever else calls it finds things where they always were.  An object that is no module keeps
the device that it was built with.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from devicelint.domain.devices import Device
from devicelint.domain.history import Site
from devicelint.domain.values import Batch, Class, Instance, Ref, Tensor
from devicelint.interpreter.engine.frame import GLOBALS, Frame
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.imports import is_walked
from devicelint.interpreter.suggestions.call_sites import CallSite, calls_of, program_at, reads
from devicelint.interpreter.suggestions.device_expressions import Spelling

NAME = "device"
_TRANSPARENT = frozenset({"no_grad", "inference_mode", "enable_grad"})
"""Decorators that call what they decorate with all that it is given."""


@dataclass(frozen=True)
class HandedDown:
    """A device that a function is given, and what has to change for that."""

    code: str
    functions: tuple[cst.FunctionDef, ...]
    """Those that get one more parameter."""
    calls: tuple[tuple[cst.Call, str], ...]
    """Those that get one more argument, and which."""
    keepers: tuple[cst.FunctionDef, ...]
    """The `__init__` methods that keep the device, too."""

    @property
    def is_needed(self) -> bool:
        """Whether anything has to change for it."""
        return bool(self.functions or self.calls)


def handed_down(
    run: Run, frame: Frame, device: Device | str, site: Site = None
) -> HandedDown | None:
    """The way of a device to a function whose callers have it; only where files are led.

    A name stands for a device that the leading file is going to have at its top.  What is created
    at `site` is better moved as a whole where a function has gathered it, or an object has.
    """
    if not run.program.also_reported or _is_gathered(run, frame, site):
        return None
    handing = _Handing(run, device)
    code = handing.reach(frame)
    if code is None:
        return None
    return HandedDown(
        code, tuple(handing.functions), tuple(handing.calls.items()), tuple(handing.keepers)
    )


def _is_gathered(run: Run, frame: Frame, site: Site) -> bool:
    """Whether it is one of many, or data that an object has read, and the function is over."""
    program = program_at(run, frame.home)
    if site is None or frame.left_with is None or program is None:
        return False
    around = reads(program.tree).around
    node = around.get(site) if isinstance(site, cst.CSTNode) else None
    while node is not None and node is not frame.node:
        if isinstance(node, (cst.For, cst.While, cst.CompFor, cst.BaseComp)):
            return True
        node = around.get(node)
    return frame.receiver is not None


def tensor_given(run: Run, frame: Frame, site: Site) -> str | None:
    """A tensor parameter that says how large something is that the function creates."""
    node = frame.node
    if not isinstance(node, cst.FunctionDef) or not isinstance(site, cst.Call):
        return None
    held = frame.left_with or run.state.fields(frame.ref)
    named = {one.value for one in descendants(site) if isinstance(one, cst.Name)}
    for parameter in (*node.params.params, *node.params.kwonly_params):
        name = parameter.name.value
        if name in named and isinstance(held.get(name), (Tensor, Batch)):
            return name
    return None


@dataclass
class _Handing:
    """One device on its way."""

    run: Run
    device: Device | str
    functions: dict[cst.FunctionDef, None] = field(default_factory=dict)
    calls: dict[cst.Call, str] = field(default_factory=dict)
    keepers: dict[cst.FunctionDef, None] = field(default_factory=dict)
    given: set[cst.FunctionDef] = field(default_factory=set)
    """The functions that have the device as a parameter by then."""
    origin: tuple[Program | None, str] = (None, "")
    """The file that has the device, and its name there."""

    def reach(self, frame: Frame) -> str | None:
        """What the device is called in a function, once it is handed down to it."""
        spelled = self._spelled(frame)
        if spelled is not None:
            self.origin = program_at(self.run, frame.home), spelled
            return spelled
        node, caller, site = frame.node, frame.caller, frame.site
        if not isinstance(node, cst.FunctionDef) or caller is None or site is None or frame.scopes:
            return None
        outer = self.reach(caller)
        if outer is None:
            return None
        if frame.owner is None:
            return NAME if self._give(node, node.name.value, frame.home, {site: outer}) else None
        return self._keep(frame.receiver) if isinstance(frame.receiver, Instance) else None

    def _spelled(self, frame: Frame) -> str | None:
        if isinstance(self.device, str):
            return self.device if frame.home == GLOBALS else None
        return Spelling(self.run, frame).of(self.device)

    def _give(
        self, node: cst.FunctionDef, name: str, home: Ref, known: dict[cst.Call, str]
    ) -> bool:
        """Add the parameter to a function, and the argument to its calls."""
        if node in self.given:
            return True
        sites = calls_of(self.run, name, home)
        if sites is None or not known.keys() <= {one.call for one in sites}:
            return False
        if not _is_plain(node) or not self._takes(node):
            return False
        self.given.add(node)
        for site in sites:
            if any(_is_named(one, NAME) for one in site.call.args):
                continue
            code = known.get(site.call) or self._at_hand(site)
            if code is not None:
                self.calls[site.call] = code
        return True

    def _takes(self, node: cst.FunctionDef) -> bool:
        """Whether a function has such a parameter, or may get one."""
        parameters = (*node.params.params, *node.params.kwonly_params)
        own = next((one for one in parameters if one.name.value == NAME), None)
        if own is not None:
            return own.default is not None
        if NAME in _names_in(node):
            return False
        self.functions[node] = None
        return True

    def _keep(self, receiver: Instance) -> str | None:
        """Let an object keep the device with which it is built."""
        cls = self.run.state.read(receiver.ref, CLASS_FIELD)
        if not isinstance(cls, Class) or not isinstance(cls.node, cst.ClassDef):
            return None
        init = _own_init(cls.node)
        if init is None or f"self.{NAME}" in self.run.code_of(cls.node):
            return None
        if not self._give(init, cls.name, cls.home, {}) or not self.calls:
            return None
        self.keepers[init] = None
        return f"self.{NAME}"

    def _at_hand(self, site: CallSite) -> str | None:
        """What the device is called at another call, with what has to change for that."""
        program, name = self.origin
        function = _function_around(site)
        if function is not None and (function in self.given or _has_parameter(function)):
            return NAME
        if site.program is program and (
            isinstance(self.device, str) or _binds(program, name.partition(".")[0], function)
        ):
            return name
        if function is None or not function.params.params or _is_method(site, function):
            return None
        if not is_walked(self.run, site.program.home):
            return None  # Another script, maybe, in which everything is on the CPU.
        known = self._give(function, function.name.value, site.program.home, {})
        return NAME if known else None


def _is_plain(node: cst.FunctionDef) -> bool:
    """Whether a call of it reaches it with all its arguments."""
    for one in node.decorators:
        called = one.decorator.func if isinstance(one.decorator, cst.Call) else one.decorator
        named = called.attr if isinstance(called, cst.Attribute) else called
        if not isinstance(named, cst.Name) or named.value not in _TRANSPARENT:
            return False
    return True


def _names_in(node: cst.FunctionDef) -> set[str]:
    """The names that a function reads or binds; those of attributes and arguments are others."""
    others: set[cst.CSTNode | None] = set()
    names: dict[cst.CSTNode, str] = {}
    for one in descendants(node.body):
        if isinstance(one, cst.Attribute):
            others.add(one.attr)
        elif isinstance(one, cst.Arg):
            others.add(one.keyword)
        elif isinstance(one, cst.Name):
            names[one] = one.value
    return {name for one, name in names.items() if one not in others}


def _is_named(argument: cst.Arg, name: str) -> bool:
    return argument.keyword is not None and argument.keyword.value == name


def _own_init(node: cst.ClassDef) -> cst.FunctionDef | None:
    for one in node.body.body:
        if isinstance(one, cst.FunctionDef) and one.name.value == "__init__":
            return one
    return None


def _function_around(site: CallSite) -> cst.FunctionDef | None:
    around = reads(site.program.tree).around
    node: cst.CSTNode | None = site.call
    while node is not None and not isinstance(node, cst.FunctionDef):
        node = around.get(node)
    return node


def _is_method(site: CallSite, node: cst.FunctionDef) -> bool:
    """Whether a function stands elsewhere than at the top of its file."""
    return reads(site.program.tree).around.get(node) is not site.program.tree


def _has_parameter(node: cst.FunctionDef) -> bool:
    parameters = (*node.params.params, *node.params.kwonly_params)
    return any(one.name.value == NAME for one in parameters)


def _binds(program: Program, name: str, function: cst.FunctionDef | None) -> bool:
    """Whether a name is bound at the top of a file, or in a function of it."""
    around = reads(program.tree).around
    for node in around:
        if not isinstance(node, cst.AssignTarget) or not isinstance(node.target, cst.Name):
            continue
        if node.target.value == name:
            scope: cst.CSTNode | None = node
            while scope is not None and not isinstance(scope, (cst.FunctionDef, cst.ClassDef)):
                scope = around.get(scope)
            if scope is None or scope is function:
                return True
    return False
