"""Puts functions where torch's own Python looks for those of a build with an accelerator.

`torch.cuda` and its like are Python over functions of torch's C extension, which a build for the
CPU lacks. Where only these are supplied, torch's own checks, texts and return types stay as they
are, and a name that a program imported before the block works as well.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from runtime_guard.virtual.devices.machine import is_active, machine
from runtime_guard.virtual.devices.names import NOT_COMPILED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runtime_guard.virtual.patching import Patches

HEAP_TYPE: Final = 1 << 9
"""Set in the flags of a class that Python made (Include/object.h)."""


def speaks(name: str | None) -> bool:
    """Whether the machine in effect has accelerators of this name; None stands for any."""
    return is_active() and name in (None, machine().name)


def stand_in(
    patches: Patches, holder: Any, attribute: str, name: str | None, function: Callable[..., Any]
) -> None:
    """Let `holder.attribute` be a function that answers for machines of this name.

    On other machines it answers as torch did before, or as torch without this accelerator does:
    with an AssertionError. Each place gets a function of its own, as `torch._dynamo` keeps tables
    keyed by function.
    """
    former = getattr(holder, attribute, None)
    if isinstance(former, type):
        former = None

    def answer(*args: Any, **kwargs: Any) -> Any:
        if speaks(name):
            return function(*args, **kwargs)
        if former is None:
            raise AssertionError(NOT_COMPILED.get(name or "", "no accelerator is available"))
        return former(*args, **kwargs)

    functools.update_wrapper(answer, former or function)
    answer.__name__ = attribute
    patches.put(holder, attribute, answer)


def stand_in_all(
    patches: Patches, holder: Any, name: str | None, table: Mapping[str, Callable[..., Any]]
) -> None:
    """Do so for a table of functions by attribute."""
    for attribute, function in table.items():
        stand_in(patches, holder, attribute, name, function)


def put_all(patches: Patches, holder: Any, table: Mapping[str, Any]) -> None:
    """Put values that are the same for every machine."""
    for attribute, value in table.items():
        patches.put(holder, attribute, value)


def fill(patches: Patches, base: Any, attributes: Mapping[str, Any]) -> bool:
    """Give a dummy base class of torch what its instances need, and return whether it is one.

    A build with the accelerator has a class of C++ there, which takes nothing.
    """
    if not isinstance(base, type) or not base.__flags__ & HEAP_TYPE:
        return False
    for attribute, value in attributes.items():
        patches.put(base, attribute, value)
    return True


def constant(value: Any) -> Callable[..., Any]:
    """A function that takes anything and gives this; each call makes another."""

    def give(*_args: Any, **_kwargs: Any) -> Any:
        return value

    return give
