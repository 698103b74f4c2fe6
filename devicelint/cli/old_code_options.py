"""Options for code that is older than its use of devicelint."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devicelint.cli.arguments import Parser

ALL_IS_NEW = {
    "baseline": None,
    "no_baseline": True,
    "write_baseline": None,
    "diff_base": None,
}
"""The values of these options for a command that has none of them."""


def add_old_code_options(parser: Parser) -> None:
    """What of the code is known, and what is to be told all the same."""
    group = parser.add_argument_group("old code")
    group.add_argument(
        "--baseline",
        metavar="FILE",
        help="keep back the findings that FILE knows; new ones are told",
    )
    group.add_argument(
        "--no-baseline",
        action="store_true",
        help="tell all, whatever the baseline knows that the configuration names",
    )
    group.add_argument(
        "--write-baseline",
        metavar="FILE",
        help="let FILE know all that is found now, and nothing that is found no more",
    )
    group.add_argument(
        "--diff-base",
        metavar="REF",
        help="tell only what is found on lines changed since a git revision, or brought about "
        "by what has changed; REF: HEAD, origin/main, …",
    )


def refuse_contradictions(options: argparse.Namespace) -> None:
    """Say before anything is done which options make no sense together; raises UsageError."""
    from devicelint.cli.arguments import UsageError

    given = [
        option
        for option, value in (
            ("--baseline", options.baseline),
            ("--no-baseline", options.no_baseline),
            ("--write-baseline", options.write_baseline),
        )
        if value
    ]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} contradict each other")
    if options.write_baseline and options.diff:
        raise UsageError("--write-baseline writes a file, and --diff writes nothing")
