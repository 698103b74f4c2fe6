"""Device parameters that callers pass and that the function never reads."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.api_events import DeviceIgnored
from devicelint.domain.devices import CPU
from devicelint.domain.events import Event
from devicelint.domain.history import Site
from devicelint.domain.values import Module, Symbolic, Tensor, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import MOVES, USUAL_NAMES
from devicelint.interpreter.facts.name_uses import reads_of
from devicelint.interpreter.facts.named_devices import names_accelerator

_READS_ALL = frozenset({"locals", "vars", "eval", "exec"})


@analysis
class IgnoredDevice(Analysis):
    """Notes the calls that gave what was made on the CPU, although they were given a device."""

    serves = frozenset({DeviceIgnored})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._ignored: dict[Site, tuple[Event, cst.Call, Tensor | Module]] = {}
        """What there is to announce, the call, and its result, by the call."""

    def on_returned(self, frame: Frame, arguments: Arguments, result: Value) -> None:
        """A function gave something that it made on the CPU: was it given another device?"""
        run, node, site = self.run, frame.node, frame.site
        if not run.world.accelerators or not isinstance(result, (Tensor, Module)):
            return
        if not isinstance(node, cst.FunctionDef) or site is None or not run.frame.is_checked:
            return
        made = result.since.site
        given = _given(node, frame, arguments)
        if given is None or not _may_be_accelerator(given[1].value) or _reads(node, given[0]):
            return
        if any(one is made for one in descendants(node.body)) and _is_free(run, node):
            is_module = isinstance(result, Module)
            event = DeviceIgnored(given[1].site, node, given[0], made, is_module)
            self._ignored[site] = (event, site, result)

    def at_end(self) -> Iterator[Event]:
        """The devices that functions ignored, where nothing was moved there later."""
        for event, call, result in self._ignored.values():
            place = result if isinstance(result, Tensor) else module_device(self.run, result)
            if place.device == CPU and not _is_moved(self.run, call):
                yield event


def _given(
    node: cst.FunctionDef, frame: Frame, arguments: Arguments
) -> tuple[str, Argument] | None:
    """The device parameter of a function, and what it was given."""
    names = [one.name.value for one in (*node.params.posonly_params, *node.params.params)]
    if frame.receiver is not None and names[:1] in (["self"], ["cls"]):
        del names[0]
    for position, name in enumerate(names):
        if name in USUAL_NAMES and (found := arguments.get(position, name)) is not None:
            return name, found
    for one in node.params.kwonly_params:
        if one.name.value in USUAL_NAMES and one.name.value in arguments.keywords:
            return one.name.value, arguments.keywords[one.name.value]
    return None


def _may_be_accelerator(value: Value) -> bool:
    """Whether a device is one, or may be: what the caller was given itself, too."""
    if isinstance(value, Symbolic):
        return value.origin in USUAL_NAMES
    return names_accelerator(value)


def _reads(node: cst.FunctionDef, parameter: str) -> bool:
    """Whether the body mentions a parameter, or may read all of them."""
    names = {one.value for one in descendants(node.body) if isinstance(one, cst.Name)}
    return parameter in names or bool(names & _READS_ALL)


def _is_free(run: Run, node: cst.FunctionDef) -> bool:
    """Whether nothing but itself asks a function for its parameters: others may share its name."""
    alike = reads_of(run.module).functions.get(node.name.value, [])
    return not node.decorators and all(one is node for one in alike)


def _is_moved(run: Run, call: cst.Call) -> bool:
    """Whether what a call gives is moved where it is called, or under the name it gets there."""
    reads = reads_of(run.module)
    around = reads.around.get(call)
    if isinstance(around, cst.Attribute):
        return around.attr.value in MOVES
    if not isinstance(around, cst.Assign):
        return not isinstance(around, (cst.Arg, cst.Expr))
    for name in _names(around):
        for one in reads.names.get(name, ()):
            method = reads.around[one]
            if isinstance(method, cst.Attribute) and method.attr.value in MOVES:
                return True
    return not list(_names(around))


def _names(statement: cst.Assign) -> Iterator[str]:
    for target in statement.targets:
        if isinstance(target.target, cst.Name):
            yield target.target.value
