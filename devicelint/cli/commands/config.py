"""The command `config`: what applies to a file, and where each part of it is written."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from devicelint.cli.options.parser import COMMANDS, Parser, add_rule_options
from devicelint.cli.run.settings import RunSettings
from devicelint.cli.terminal import paint_for
from devicelint.config import Config, unread_beside
from devicelint.config.document import ConfigError
from devicelint.config.schema import schema
from devicelint.finding import InputError
from devicelint.output import configuration
from devicelint.rule_index import known_rules

DETAILS = """\
examples:
  devicelint config train.py
  devicelint config --select DEV1 train.py
  devicelint config --json train.py > settings.json
  devicelint config --schema > devicelint.schema.json
"""


def config_parser() -> Parser:
    """Return the parser of `devicelint config`."""
    about = COMMANDS["config"] + ": the origin of each value and each rule."
    parser = Parser("devicelint config", about, DETAILS)
    parser.add_argument(
        "file", nargs="?", default=".", metavar="FILE", help="a file or a folder (this folder)"
    )
    manner = parser.add_mutually_exclusive_group()
    manner.add_argument("--json", action="store_true", help="print JSON for programs")
    manner.add_argument(
        "--schema",
        action="store_true",
        help="print the JSON schema of devicelint.toml, for editors, instead",
    )
    parser.add_argument(
        "--unsafe-fixes",
        action="store_true",
        default=None,
        help="include this option; the same applies to those below",
    )
    add_rule_options(parser)
    parser.set_defaults(baseline=None)
    return parser


def run(_command: str, words: Sequence[str]) -> int:
    """Run `devicelint config` and return the exit status."""
    options = config_parser().parse(words)
    if options.schema:
        sys.stdout.write(f"{json.dumps(schema(known_rules()), indent=2)}\n")
        return 0
    return show(options.file, RunSettings(options), as_json=options.json)


def show(file: str, settings: RunSettings, *, as_json: bool = False) -> int:
    """Print what applies to a file or folder; raises ConfigError where there is none."""
    path = Path(file)
    if not path.exists():
        raise ConfigError(file, 1, 0, "there is no such file or folder")
    config = settings.config_for(path)
    around = tuple(_around(path, settings))
    applying = configuration.Applying(file, config, around, tuple(unread_beside(config)))
    if as_json:
        sys.stdout.write(f"{json.dumps(configuration.as_json(applying), indent=2)}\n")
    else:
        sys.stdout.write(configuration.render(applying, paint_for(sys.stdout)))
    return 0


def _around(path: Path, settings: RunSettings) -> Iterator[tuple[Path, Config]]:
    """The way down to a path, as a search from here goes, each with what holds around it."""
    absolute = Path(os.path.abspath(path))
    for each in reversed((absolute, *absolute.parents)):
        if each != each.parent and each not in (here := Path.cwd(), *here.parents):
            with suppress(InputError):  # What is wrong further up is none of this file's matter.
                yield each, settings.config_for(each.parent)
