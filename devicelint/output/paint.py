"""Colour, or none: a reporter asks for a style by name and does not know which it gets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from devicelint.finding import Severity

if TYPE_CHECKING:
    from rich.style import Style

Paint = Callable[[str, str], str]
"""Paints a text in a style, such as "bold red"."""

SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def plain(text: str, style: str) -> str:  # noqa: ARG001 - a Paint takes both
    """Leave the text as it is."""
    return text


def coloured(text: str, style: str) -> str:
    """Wrap the text in the terminal's codes for the style; the 16 colours that every one has."""
    from rich.color import ColorSystem

    return _style(style).render(text, color_system=ColorSystem.STANDARD)


@cache
def _style(name: str) -> Style:
    from rich.style import Style

    return Style.parse(name)
