"""One name, one concept: no public class of devicelint has two homes."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.structure.sources import modules


def test_a_public_class_has_one_home():
    homes = defaultdict(set)
    for module in modules("devicelint").values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(module.name)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
