"""`--update`: rewrites the `diff` and `text` blocks of a page from reality."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.mdtest.markdown import Fence

GENERATED = ("diff", "text")


def updated(text: str, replacements: Iterable[tuple[Fence, str]]) -> str:
    """The page with the content of those blocks replaced, and nothing else changed."""
    lines = text.splitlines(keepends=True)
    for fence, content in sorted(replacements, key=lambda pair: pair[0].line, reverse=True):
        if fence.language not in GENERATED:
            raise ValueError(f"line {fence.line}: a `{fence.language}` block is written by hand")
        lines[fence.line : fence.line + len(fence.content.splitlines())] = [content]
    return "".join(lines)


def update(page: Path, replacements: Iterable[tuple[Fence, str]]) -> None:
    """Rewrite the page in place."""
    text = page.read_text(encoding="utf-8")
    page.write_text(updated(text, replacements), encoding="utf-8")
