"""Texts with values in them, and the devices that they name: `f"{device}:1"`."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devicelint.domain.devices import Known
from devicelint.domain.history import Site
from devicelint.domain.values import Const, DeviceHandle, Value
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import evaluates
from devicelint.interpreter.python.stdlib.paths import put_together


@evaluates(cst.FormattedString)
def formatted_string(run: Run, node: cst.FormattedString) -> Value:
    """`f"cuda:{rank}"` names a device of a type, whatever its index; so does `f"{device}:1"`."""
    first = node.parts[0] if node.parts else None
    names = isinstance(first, cst.FormattedStringText) and first.value in ("cuda:", "xpu:", "npu:")
    spelled: list[Value] = []
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            value = run.evaluate(part.expression)
            run.steps.read(Argument(part.expression, value), part.expression)
            if names:
                run.steps.index_used(value)
            spelled.append(value)
        elif isinstance(part, cst.FormattedStringText):
            spelled.append(Const(part.value))
    if isinstance(first, cst.FormattedStringText) and names:
        return DeviceHandle(Known(first.value[:-1], computed=True), node, is_object=False)
    return _named_with_index(spelled, node) or _spelled_out(node, spelled)


def _spelled_out(node: cst.FormattedString, parts: Sequence[Value]) -> Value:
    """The text itself, where all that is put into it is known: `f"layer{number}"`."""
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression) and (
            part.conversion or part.format_spec
        ):
            return put_together(parts)
    known = [one.value for one in parts if isinstance(one, Const)]
    if len(known) < len(parts) or not all(isinstance(one, (str, int)) for one in known):
        return put_together(parts)
    return Const("".join(map(str, known)))


def _named_with_index(parts: Sequence[Value], site: Site) -> DeviceHandle | None:
    """The device that a type with a number after it names, where these are the parts of a text."""
    if len(parts) < 2 or not isinstance(parts[0], DeviceHandle):
        return None
    device, text = parts[0].device, parts[1]
    if not (isinstance(device, Known) and isinstance(text, Const) and isinstance(text.value, str)):
        return None
    index = text.value.removeprefix(":")
    if index == text.value or device.index is not None or not (index.isdecimal() or not index):
        return None
    if bool(index) is (len(parts) > 2):
        return None
    named = Known(device.type, int(index)) if index else Known(device.type, computed=True)
    return DeviceHandle(named, site, is_object=False)
