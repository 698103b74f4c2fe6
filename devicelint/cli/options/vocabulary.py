"""What can be said on the command line, as data: its commands, their options, what these take."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from devicelint.cli.options.parser import COMMANDS, Parser
from devicelint.cli.options.parsers import parser_of


class ArgumentKind(Enum):
    """What completes a word."""

    FILE = auto()
    FOLDER = auto()
    RULE = auto()
    """The code or the name of a rule."""
    RULES = auto()
    """Several of them, with commas between."""
    CHOICE = auto()
    """One of a few words."""
    ANYTHING = auto()


_KINDS = {
    "CODES": ArgumentKind.RULES,
    "DIR": ArgumentKind.FOLDER,
    "FILE": ArgumentKind.FILE,
    "FILE:LINE": ArgumentKind.FILE,
    "FOLDER": ArgumentKind.FOLDER,
    "OUT": ArgumentKind.FILE,
    "PATH": ArgumentKind.FILE,
    "RULE": ArgumentKind.RULE,
    "RUN": ArgumentKind.FILE,
}
"""What the placeholders of the help stand for."""


@dataclass(frozen=True)
class OptionWord:
    """What an option takes, or what stands by itself."""

    placeholder: str
    help: str
    kind: ArgumentKind
    choices: tuple[str, ...] = ()
    needed: bool = True
    repeated: bool = False


@dataclass(frozen=True)
class Option:
    """An option, under all its names."""

    names: tuple[str, ...]
    help: str
    takes: OptionWord | None = None
    repeated: bool = False

    @property
    def long(self) -> tuple[str, ...]:
        """Its names that begin with two hyphens, without them."""
        return tuple(name[2:] for name in self.names if name.startswith("--"))

    @property
    def short(self) -> tuple[str, ...]:
        """Its names of one letter, without the hyphen."""
        return tuple(name[1:] for name in self.names if not name.startswith("--"))


@dataclass(frozen=True)
class OptionGroup:
    """Options that belong together."""

    title: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Command:
    """A command, with all that can follow it."""

    name: str
    summary: str
    groups: tuple[OptionGroup, ...]
    operands: tuple[OptionWord, ...]
    details: str
    """Its examples and exit status, as `--help` has them."""

    @property
    def options(self) -> tuple[Option, ...]:
        """All its options, in the order of the help."""
        return tuple(option for group in self.groups for option in group.options)


def commands() -> tuple[Command, ...]:
    """Return every command, as its parser has it."""
    return tuple(_command(name, parser_of(name)) for name in sorted(COMMANDS))


def _command(name: str, parser: Parser) -> Command:
    # argparse has no other way to ask a parser what it parses.
    groups = tuple(
        OptionGroup(group.title or "", options)
        for group in parser._action_groups
        if (options := tuple(_options(group)))
    )
    operands = (each for each in parser._actions if not each.option_strings)
    return Command(
        name, COMMANDS[name], groups, tuple(map(_word, operands)), (parser.epilog or "").rstrip()
    )


def _options(group: argparse._ArgumentGroup) -> Iterator[Option]:
    for action in group._group_actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            yield Option(
                tuple(action.option_strings),
                _help(action),
                None if action.nargs == 0 else _word(action),
                isinstance(action, argparse._ExtendAction | argparse._AppendAction),
            )


def _word(action: argparse.Action) -> OptionWord:
    choices = tuple(map(str, action.choices or ()))
    placeholder = action.metavar if isinstance(action.metavar, str) else "|".join(choices)
    kind = ArgumentKind.CHOICE if choices else _KINDS.get(placeholder, ArgumentKind.ANYTHING)
    return OptionWord(
        placeholder or action.dest.upper(),
        _help(action),
        kind,
        choices,
        needed=action.nargs not in ("*", "?"),
        repeated=action.nargs in ("*", "+"),
    )


def _help(action: argparse.Action) -> str:
    """The help as it is printed, `%%` and `%(default)s` made out."""
    return (action.help or "") % {**vars(action), "prog": "devicelint"}
