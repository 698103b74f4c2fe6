"""The command `clean`: remove what runs keep for the next ones."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from devicelint.cache import DEFAULT_NAME, clean
from devicelint.cli import terminal
from devicelint.cli.options.clean import clean_parser
from devicelint.config import ConfigFinder
from devicelint.finding import InputError
from devicelint.output.visible import printable
from devicelint.rule_index import known_rules


def run(_command: str, words: Sequence[str]) -> int:
    """Run `devicelint clean` and return the exit status; raises InputError."""
    options = clean_parser().parse(words)
    paths = [Path(path) for path in options.paths or ["."]]
    if options.cache_dir:
        found = {Path(options.cache_dir): None}
    else:
        found = {cache: None for path in paths for cache in _caches(path)}
    removed = [cache for cache in found if _is_removed(cache)]
    for cache in removed:
        terminal.say(printable(f"removed {cache}"))
    if not removed:
        terminal.say("no cache found")
    return 0


def _caches(path: Path) -> Iterator[Path]:
    """Where caches may lie that runs on a folder have made."""
    if not path.is_dir():
        raise InputError(str(path), 1, 0, "is no folder")
    configured = ConfigFinder(known_rules()).config_for(path)
    if configured.cache_dir is not None:
        yield configured.cache_dir
    if configured.root is not None:
        yield configured.root / DEFAULT_NAME
    for folder, folders, _ in os.walk(path):
        if DEFAULT_NAME in folders:
            folders.remove(DEFAULT_NAME)
            yield Path(folder, DEFAULT_NAME)


def _is_removed(cache: Path) -> bool:
    try:
        return clean(cache)
    except OSError as error:
        raise InputError(
            str(cache), 1, 0, f"cannot be removed: {error.strerror or error}"
        ) from None
