"""Edits made in a text."""

from __future__ import annotations

from collections.abc import Sequence

from devicelint.finding import Edit, Span


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text after `edits`, which do not overlap; insertions at one place keep their order."""
    pieces = []
    position = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        if edit.span.start < position:
            raise ValueError(f"edits overlap at {edit.span}")
        pieces += [text[position : edit.span.start], edit.content]
        position = edit.span.end
    if position > len(text):
        raise ValueError(f"an edit ends at {position}, after the end of the text")
    return "".join((*pieces, text[position:]))


def narrowed(text: str, edit: Edit) -> Edit:
    """The same edit of `text`, without what it would replace by itself at its ends."""
    old, new = text[edit.span.start : edit.span.end], edit.content
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    span = Span(edit.span.start + head, edit.span.end - tail)
    return Edit(span, new[head : len(new) - tail])


def _common(first: str, second: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(first), len(second)))
