"""HTML out of text: whatever is not made by `element` is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any


class Fragment:
    """HTML that is made already."""

    __slots__ = ("html",)

    def __init__(self, html: str) -> None:
        self.html = html

    def __str__(self) -> str:
        return self.html


def element(
    name: str, *children: str | Fragment | None, **attributes: str | float | bool | None
) -> Fragment:
    """Make an element.

    Args:
        name: such as `td`.
        children: text, which is escaped, and fragments, which are not; None is left out.
        attributes: True for one without a value; None and False are left out. An underscore at
            the end is dropped (`class_`), others become hyphens (`aria_label`).
    """
    written = "".join(
        f" {_attribute(key)}" if value is True else f' {_attribute(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Fragment(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Iterable[str | Fragment | None]) -> Fragment:
    """Put text and fragments beside each other."""
    return Fragment(
        "".join(
            child.html if isinstance(child, Fragment) else escape(child)
            for child in children
            if child is not None
        )
    )


def data(identifier: str, content: Any) -> Fragment:
    """Embed JSON that a script reads; nothing in it can end the element, or begin a comment."""
    written = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Fragment(f'<script type="application/json" id="{escape(identifier)}">{written}</script>')


def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")
