"""What does not change what is found: other names, and a function that has nothing to do with it.

The first example of each section of the rules' pages is checked as it is and changed.  `KNOWN` are
those where that is not yet so: the list shrinks, and grows no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from benchmarks.golden.subjects import HERE, Subject, pages
from devicelint.linter import lint
from devicelint.text.source import SourceFile
from tests.renaming import renamed

UNRELATED = '''

def zq_unrelated(zq_first, zq_device="cuda:1", zq_args=None):
    """Moves what it is given. zq_first (Tensor): anything."""
    zq_x = zq_first.to(zq_device)
    if zq_args is not None and zq_x.is_cuda:
        return zq_x.cpu().numpy()
    return zq_x.device
'''
"""A function that nobody calls, and that asks for devices in several ways."""

KNOWN = frozenset(
    {
        # What is moved under other settings is asked of the file.
        ("extended", "device_unused"),
    }
)

Changed = Callable[[str], str]


def extended(code: str) -> str:
    """The code with one more function at its end."""
    return code.rstrip("\n") + "\n" + UNRELATED


@cache
def _pages() -> dict[str, list[Subject]]:
    of_rules = {path.stem for path in (HERE / "devicelint" / "rules").glob("*.md")}
    found: dict[str, list[Subject]] = {}
    for subject in pages():
        stem = subject.name.partition(":")[0]
        if stem in of_rules and subject.name.endswith("[0]"):
            found.setdefault(stem, []).append(subject)
    return found


def _said(subject: Subject, path: str, code: str) -> set[tuple[int, str, str]]:
    source = SourceFile.from_text(code, path)
    config = replace(subject.config, extend_select=())
    last = code.partition(UNRELATED)[0].count("\n") + 1
    with subject.place():
        found = lint.check(source, config, subject.project()).findings
    told = {(source.location(one.span.start).line, one.code, one.certainty.value) for one in found}
    return {one for one in told if one[0] <= last}


@pytest.mark.parametrize("change", [renamed, extended], ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    "page", sorted(path.stem for path in (HERE / "devicelint/rules").glob("*.md"))
)
def test_nothing_else_is_found(page: str, change: Changed) -> None:
    if (change.__name__, page) in KNOWN:
        pytest.skip("known to depend on it")
    for subject in _pages().get(page, []):
        source = subject.read()
        code = change(source.text)
        before = _said(subject, source.path, source.text)
        assert _said(subject, source.path, code) == before, subject.name


def test_other_names_mean_the_same() -> None:
    code = "def f(x, size=3):\n    return x.size(0) + size\n\n\ny = f(1)\n"
    assert renamed(code) == (
        "def zq0(zq1, size=3):\n    return zq1.size(0) + size\n\n\nzq2 = zq0(1)\n"
    )
