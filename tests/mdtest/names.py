"""Refuses names that nothing binds: there everything is Unknown, and silence proves nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pyflakes import checker, messages  # type: ignore[import-untyped]  # ships no types

from tests.mdtest.page import Problem

ALWAYS_DEFINED = frozenset({"reveal_device"})


def undefined_names(code: str, path: str) -> Iterator[Problem]:
    """One problem for each use of a name that neither the code nor Python binds."""
    for message in checker.Checker(ast.parse(code), path, builtins=ALWAYS_DEFINED).messages:
        if isinstance(message, (messages.UndefinedName, messages.UndefinedLocal)):
            yield Problem(message.lineno, message.message % message.message_args)
