"""Options about how a run gets done: what it remembers, in how many processes, how often."""

from __future__ import annotations

import argparse

AUTO = 0
"""As many processes as are worth it."""

FROM_SCRATCH = {"jobs": 1, "no_cache": True, "cache_dir": None, "profile": False}
"""For commands that check each file here and now."""


def add_speed_options(parser: argparse.ArgumentParser) -> None:
    """What changes nothing about what is found."""
    group = parser.add_argument_group("speed")
    group.add_argument(
        "-j",
        "--jobs",
        type=_jobs,
        default=AUTO,
        metavar="N",
        help="check in N processes; auto: as many as are useful (the default)",
    )
    group.add_argument("--no-cache", action="store_true", help="neither read nor write the cache")
    group.add_argument(
        "--cache-dir", metavar="DIR", help="the folder of the cache (.devicelint_cache)"
    )
    group.add_argument(
        "--watch", action="store_true", help="check again whenever a file changes, until Ctrl-C"
    )
    group.add_argument(
        "--profile",
        action="store_true",
        help="print how long each part and each rule took; in one process, without the cache",
    )


def _jobs(text: str) -> int:
    if text == "auto":
        return AUTO
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is no number of processes, nor "auto"')
    return int(text)
