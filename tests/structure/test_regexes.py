"""The interpreter decides by values: regular expressions are kept to its facts, and are few."""

from __future__ import annotations

import ast
from collections import Counter

from tests.structure.sources import Module, modules

FACTS = "devicelint.interpreter.facts"
MOST = 20
_TAKE_A_PATTERN = "compile match fullmatch search sub subn split findall finditer".split()


def regexes_of(module: Module) -> int:
    """How many calls of `re` in a module take a pattern."""
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _TAKE_A_PATTERN
        for node in ast.walk(module.tree)
    )


def test_they_are_few_and_lie_in_facts():
    counts = Counter({one: regexes_of(one) for one in modules("devicelint.interpreter").values()})
    outside = {one.place for one, count in counts.items() if count and not _is_of_facts(one)}
    assert not outside
    assert counts.total() <= MOST


def test_names_of_re_are_not_imported_one_by_one():
    for module in modules("devicelint.interpreter").values():
        found = [one for one in ast.walk(module.tree) if isinstance(one, ast.ImportFrom)]
        assert "re" not in {one.module for one in found}, module.place


def _is_of_facts(module: Module) -> bool:
    return f"{module.name}.".startswith(f"{FACTS}.")
