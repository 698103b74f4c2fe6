"""Whether a device that somebody chooses can be an accelerator where certain conditions hold.

A condition is asked of the device itself: `chosen != "cpu"`, `gpu >= 0`, `"cuda" in device`.  It is
worked out for devices that are accelerators; where none of them fits, the choice is the CPU.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

_ACCELERATORS: tuple[str | int, ...] = ("cuda", "cuda:0", "cuda:1", 0, 1)
"""What an expression for a device may be on the machine that is walked: a name, or an index."""

_COMPARE: Mapping[type, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.In: lambda one, other: one in other,
        ast.NotIn: lambda one, other: one not in other,
        ast.Is: operator.is_,
        ast.IsNot: operator.is_not,
    }
)


class _NotKnown(Exception):
    """A part of a condition that is not about the device."""


def may_be_accelerator(settings: tuple[tuple[str, bool], ...], origin: str) -> bool:
    """Whether an accelerator, chosen as `origin`, fits all that the settings say of it."""
    return any(
        all(_fits(key, origin, device, chosen) for key, chosen in settings)
        for device in _ACCELERATORS
    )


@functools.lru_cache(maxsize=10_000)
def _fits(condition: str, origin: str, device: str | int, chosen: bool) -> bool:
    """Whether a condition can be what was chosen, where `origin` stands for a device."""
    try:
        tree = ast.parse(condition, mode="eval").body
        return bool(_value(tree, _dumped(origin), device)) is chosen
    except (SyntaxError, _NotKnown):
        return True
    except TypeError:
        return False  # Whoever compares with numbers has no name there.


@functools.lru_cache(maxsize=1_000)
def _dumped(origin: str) -> str:
    return ast.dump(ast.parse(origin, mode="eval").body)


def _value(node: ast.expr, origin: str, device: str | int) -> Any:
    if ast.dump(node) == origin:
        return device
    match node:
        case ast.Constant(value):
            return value
        case ast.Tuple(elements) | ast.List(elements) | ast.Set(elements):
            return [_value(one, origin, device) for one in elements]
        case ast.UnaryOp(ast.Not(), operand):
            return not _value(operand, origin, device)
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand, origin, device)
        case ast.Attribute(owner, "type"):
            return _name(_value(owner, origin, device)).partition(":")[0]
        case ast.Call(ast.Name("str"), [given]):
            return str(_value(given, origin, device))
        case ast.Call(ast.Attribute(owner, "startswith"), [given]):
            start = _value(given, origin, device)
            return _name(_value(owner, origin, device)).startswith(start)
        case ast.Compare(left, [sign], [right]) if type(sign) in _COMPARE:
            one, other = (_value(side, origin, device) for side in (left, right))
            return _COMPARE[type(sign)](one, other)
        case _:
            raise _NotKnown


def _name(device: object) -> str:
    if isinstance(device, str):
        return device
    raise TypeError(device)
