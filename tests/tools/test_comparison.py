"""The comparison with other linters: what it claims is proven by tests that exist."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.mdtest.page import sections
from tests.mdtest.plugin import is_page
from tools.comparison import NOT, PAGE, Feature, comparison, page

ROOT = Path(__file__).parents[2]
COMPARED = comparison()
FEATURES = list(COMPARED.features)


@cache
def proofs_in(path: str) -> frozenset[str]:
    """The tests of a file, as pytest names them."""
    file = ROOT / path
    if file.suffix == ".md":
        assert is_page(file), f"{path} is no page that is tested"
        return frozenset(each.name for each in sections(file.read_text(encoding="utf-8")))
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(_tests(tree, ""))


def _tests(tree: ast.Module | ast.ClassDef, within: str):
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            yield from _tests(statement, f"{within}{statement.name}::")
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{within}{statement.name}"


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.what)
def test_what_is_claimed_is_proven(feature: Feature):
    assert len(feature.others) == len(COMPARED.others)
    assert bool(feature.proof) == (feature.ours != NOT), "a tick needs a proof, a proof a tick"
    for proof in feature.proof:
        path, _, name = proof.partition("::")
        assert (ROOT / path).is_file(), proof
        if name or path.endswith(".py"):
            assert name.rpartition("::")[2].startswith("test_") or path.endswith(".md"), proof
            assert name in proofs_in(path), proof
        else:
            assert proofs_in(path), proof


def test_no_feature_stands_twice():
    assert len({feature.what for feature in FEATURES}) == len(FEATURES)


def test_the_page_is_what_the_data_say():
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page()


def test_what_devicelint_does_not_do_is_told():
    assert [feature.what for feature in FEATURES if feature.ours == NOT] != []
