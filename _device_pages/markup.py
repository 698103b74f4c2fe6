"""HTML by parts: text is escaped where it becomes markup, so that none can be forgotten."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from _device_pages.visible import symbol


class Html:
    """Markup that may go into a page as it is."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


Content = Html | str | None
Attribute = str | float | bool | None

_EMPTY = frozenset({"meta", "input", "br"})


def element(tag: str, *content: Content, **attributes: Attribute) -> Html:
    """An element; a name such as `class_` or `data_line` stands for `class` or `data-line`."""
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _EMPTY:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{joined(*content)}</{tag}>")


def joined(*content: Content) -> Html:
    """Parts side by side; None is nothing."""
    return Html(
        "".join(
            part.text if isinstance(part, Html) else escape(shown(part))
            for part in content
            if part is not None
        )
    )


def data(identifier: str, content: Any) -> Html:
    """JSON that a script reads; nothing in it can end the element, or begin a comment."""
    written = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{escape(identifier)}">{written}</script>')


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    attribute = name.rstrip("_").replace("_", "-")
    return f" {attribute}" if value is True else f' {attribute}="{escape(shown(str(value)))}"'


def shown(text: str) -> str:
    """Text with a sign for each character that would not be seen, or turn others around."""
    if text.isprintable():
        return text
    return "".join(one if one in "\t\n" else symbol(one) for one in text)
