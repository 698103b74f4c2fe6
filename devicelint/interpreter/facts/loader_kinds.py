"""What a loop iterates over, as it is written: its kind, and whether its parts belong together."""

from __future__ import annotations

import re

import libcst as cst

from devicelint.interpreter.engine.nodes import descendants

MIXES = re.compile(r"\b(zip|zip_longest|product|items|named_\w+)\b")
"""Calls whose parts do not come out of one loader."""


def called_in(node: cst.BaseExpression) -> str:
    """The names of the calls that an expression is made of."""
    called = []
    for one in descendants(node):
        if isinstance(one, cst.Call):
            name = one.func.attr if isinstance(one.func, cst.Attribute) else one.func
            called.append(name.value if isinstance(name, cst.Name) else "")
    return " ".join(called)


_WRAPPERS = frozenset({"enumerate", "tqdm", "iter", "track", "islice", "log_every", "trange"})
_PHASES = re.compile(
    r"(?<![a-z])(training|train|trn|tr|validation|validate|valid|val|va|testing|test|te|evaluation"
    r"|eval|dev)(?![a-z])"
)


def kind_of_loader(node: cst.BaseExpression) -> str:
    """`test_loader` and `train_loader` are one kind: "loader"."""
    while isinstance(node, cst.Call) and node.args:
        func = node.func
        name = func.attr if isinstance(func, cst.Attribute) else func
        if not (isinstance(name, cst.Name) and name.value in _WRAPPERS):
            break
        node = node.args[0].value
    words = []
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        if isinstance(node, cst.Attribute):
            words.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    words.append(node.value)
    return ".".join(_PHASES.sub("", re.sub(r"_", " ", w.lower())).replace(" ", "") for w in words)
