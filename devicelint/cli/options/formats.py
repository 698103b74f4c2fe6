"""The options that say how findings are written, and where to."""

from __future__ import annotations

import argparse

from devicelint.output.formats import FORMATS
from devicelint.text.selectors import hint


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
    group.add_argument(
        "--report",
        type=_report,
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help="also write a report into FILE: sarif=devices.sarif; may be repeated",
    )


def _report(text: str) -> tuple[str, str]:
    name, equals, file = text.partition("=")
    if name not in FORMATS:
        what = hint(name, FORMATS) or f": there are {', '.join(FORMATS)}"
        raise argparse.ArgumentTypeError(f'there is no format "{name}"{what}')
    if not equals:
        raise argparse.ArgumentTypeError(f'name a file: "{name}=FILE"')
    return name, file
