"""The options that say how findings are written, and where to."""

from __future__ import annotations

import argparse

from devicelint.reporters.formats import FORMATS


def add_format_options(group: argparse._ActionsContainer, about: str = "") -> None:
    """Which format, and which file."""
    group.add_argument(
        "--output-format",
        choices=tuple(FORMATS),
        default="text",
        metavar="FORMAT",
        help=f"{about}{', '.join(FORMATS)} (text)",
    )
    group.add_argument(
        "--output-file",
        metavar="FILE",
        help="write to FILE what would be printed; replaced as a whole, at the end",
    )
