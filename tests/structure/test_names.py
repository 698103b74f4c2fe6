"""One name, one concept: no public class of a package has two homes."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from tests.structure.sources import PACKAGES, modules

# One name for one thing: what guards a training loop of each library, as users import it.
IN_SEVERAL_PLACES = {"DeviceGuard"}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_class_has_one_home(package):
    homes = defaultdict(set)
    for module in modules(package).values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(module.name)
    several = {name: places for name, places in homes.items() if len(places) > 1}
    assert {name: several[name] for name in several.keys() - IN_SEVERAL_PLACES} == {}
