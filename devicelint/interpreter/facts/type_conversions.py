"""Calls that give a tensor or a module another type of numbers, and leave it where it is."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.qualified_names import full_name

TYPES = frozenset(
    "float float16 float32 float64 bfloat16 cfloat half double cdouble int int8 int16 int32 int64 "
    "uint8 uint16 uint32 uint64 long short bool complex64 complex128".split()
)
"""The types of numbers, as attributes of torch."""
_OPTIONS = frozenset({"dtype", "non_blocking", "copy", "memory_format"})
"""What `to` takes by name beside a device and another tensor."""


def says_type_alone(run: Run, arguments: Sequence[cst.Arg]) -> bool:
    """Whether `to` or `type` is given a type of numbers, and neither device nor tensor."""
    return bool(arguments) and all(_is_about_type(run, one) for one in arguments)


def _is_about_type(run: Run, argument: cst.Arg) -> bool:
    if argument.keyword is not None:
        return argument.keyword.value in _OPTIONS
    if isinstance(argument.value, cst.Attribute) and argument.value.attr.value == "dtype":
        return True
    name = full_name(run, argument.value)
    return name is not None and name.parts[:-1] == ("torch",) and name.parts[-1] in TYPES
