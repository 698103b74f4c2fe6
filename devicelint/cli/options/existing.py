"""Options for findings that exist already: baselines, changed lines, comments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devicelint.cli.options.parser import Parser

ALL_IS_NEW = {
    "baseline": None,
    "no_baseline": True,
    "write_baseline": None,
    "fail_on_stale": False,
    "diff_base": None,
    "add_noqa": False,
    "add_ignore": False,
}
"""The values of these options for a command that has none of them."""


def _something(text: str) -> str:
    """Refuse an empty word, as a variable gives that is not set: it would mean all code."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def add_existing_options(parser: Parser) -> None:
    """Which findings exist already, and which are reported nevertheless."""
    group = parser.add_argument_group("existing findings")
    _add_baseline_options(group)
    group.add_argument(
        "--diff-base",
        type=_something,
        metavar="REF",
        help="report only findings on lines changed since a git revision, such as HEAD or "
        "origin/main, and findings that the change causes elsewhere",
    )
    group.add_argument(
        "--add-noqa",
        action="store_true",
        help="suppress the findings: write # noqa: DEV101 on their lines; with --diff, show this",
    )
    group.add_argument(
        "--add-ignore", action="store_true", help="the same, as # devicelint: ignore[DEV101]"
    )


def _add_baseline_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--baseline",
        type=_something,
        metavar="FILE",
        help="hide the findings listed in FILE; new ones are reported",
    )
    group.add_argument(
        "--no-baseline",
        action="store_true",
        help="report all findings, also those in the baseline of the configuration",
    )
    group.add_argument(
        "--write-baseline",
        type=_something,
        metavar="FILE",
        help="list all current findings in FILE, without stale entries",
    )
    group.add_argument(
        "--fail-on-stale",
        action="store_true",
        help="exit with 1 if the baseline has stale entries, whose findings no longer exist",
    )


_CONTRADICTIONS = (
    ("baseline", "no_baseline"),
    ("baseline", "write_baseline"),
    ("no_baseline", "write_baseline"),
    ("write_baseline", "diff"),
    ("write_baseline", "fail_on_stale"),
    ("write_baseline", "diff_base"),
    ("add_noqa", "add_ignore"),
    *((adds, other) for adds in ("add_noqa", "add_ignore") for other in ("fix", "write_baseline")),
)


def refuse_contradictions(options: argparse.Namespace) -> None:
    """Say before anything is done which options make no sense together; raises UsageError."""
    from devicelint.cli.options.usage import UsageError

    for pair in _CONTRADICTIONS:
        if all(getattr(options, name) for name in pair):
            one, other = (f"--{name.replace('_', '-')}" for name in pair)
            raise UsageError(f"{one} and {other} contradict each other")
    if (options.add_noqa or options.add_ignore) and "-" in options.paths:
        raise UsageError("comments are added to files: name them, not -")
