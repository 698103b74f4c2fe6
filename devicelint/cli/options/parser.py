"""What can be said on the command line, and what to answer where it was misspelt."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from devicelint.cli import terminal
from devicelint.cli.options.existing import add_existing_options
from devicelint.cli.options.formats import add_format_options
from devicelint.cli.options.shared import (
    add_common_options,
    add_file_options,
    add_interactive,
    add_proof_options,
    add_settings_options,
    codes,
)
from devicelint.cli.options.speed import add_speed_options
from devicelint.cli.options.usage import UsageError
from devicelint.text.selectors import hint

COMMANDS = {
    "adopt": "Rewrite training scripts to use whatever device the machine has",
    "check": "Report device mistakes in files and folders (the default)",
    "clean": "Delete the cache",
    "completion": "Print the completion script of a shell",
    "config": "Show which settings apply to a file, and where they come from",
    "explain": "Print the documentation of a rule",
    "map": "Draw the devices of a file, and the moves between them, as a page",
    "mcp": "Give coding agents the tools check, fix, why, explain and adopt",
    "rules": "List the rules",
    "server": "Show findings and devices in an editor, as its language server",
    "trace": "Print a file with the device of every value in the margin",
    "why": "Print how the values on a line got to their devices",
}

OVERVIEW = """\
devicelint finds tensors and modules that are on the wrong device, explains why,
and fixes the code.

examples:
  devicelint                   check all files below this folder
  devicelint train.py          report the device mistakes in a file
  devicelint --fix .           fix all files in this folder
  devicelint --diff train.py   show what --fix would change
  devicelint adopt train.py    make a script train on whatever the machine has
  devicelint explain DEV101    show the documentation of a rule
  devicelint trace train.py    show which device each value is on
  devicelint why train.py:42   show how the values on a line got there

commands:
"""

CHECK_DETAILS = """\
examples:
  devicelint train.py models/
  devicelint --fix --unsafe-fixes train.py
  devicelint --diff . | git apply
  devicelint --fix --interactive train.py
  devicelint --fix --prove --prove-args "--epochs 1" train.py
  devicelint --select DEV1,hard-coded-accelerator --statistics .
  devicelint --diff-base origin/main .
  devicelint --output-format json . > findings.json
  cat train.py | devicelint - --stdin-filename train.py

exit status: 0 no findings, or no new ones, 1 findings, a failure that --prove
shows, or --fail-on-stale, 2 wrong usage or a file that could not be checked
"""

COMPLETION_DETAILS = """\
To complete commands, options, rules and files, save the script where your shell
looks for it, and start a new shell:

  bash  devicelint completion bash > \\
            ~/.local/share/bash-completion/completions/devicelint
        or, in ~/.bashrc: eval "$(devicelint completion bash)"
  fish  devicelint completion fish > \\
            ~/.config/fish/completions/devicelint.fish
  zsh   devicelint completion zsh > ~/.zfunc/_devicelint
        and in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit; compinit
"""


class Parser(argparse.ArgumentParser):
    """A parser that answers in one line, and takes no abbreviations."""

    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.add_argument(
            "--color",
            choices=("auto", "always", "never"),
            default="auto",
            help="whether to color the output (auto: on a terminal)",
        )

    def format_help(self) -> str:
        """Wrap what the command does; its examples stay as they are."""
        import textwrap

        self.usage = self.usage or self._usage()
        self.description = textwrap.fill(self.description or "", 79)
        return super().format_help()

    def _usage(self) -> str:
        """What is given besides options; these are listed with what they do."""
        formatter = self._get_formatter()
        formatter.add_usage(None, self._get_positional_actions(), [])
        operands = formatter.format_help().strip().removeprefix(f"usage: {self.prog}")
        return f"%(prog)s [options]{operands}"

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise UsageError(message)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse options and paths in any order; name the nearest option where one is unknown."""
        # While options are parsed, argparse has no operands, and --help would show none.
        self.usage = self._usage()
        parsed, unknown = self.parse_known_intermixed_args(_without_separator(arguments))
        if unknown:
            if not unknown[0].startswith("-"):
                raise UsageError(
                    f'"{unknown[0]}" is one word too many: {self.format_usage().strip()}'
                )
            option = unknown[0].split("=")[0]
            raise UsageError(
                f'there is no option "{option}"' + hint(option, self._option_string_actions)
            )
        terminal.choose_colour(parsed.color)
        return parsed


def _without_separator(words: Sequence[str]) -> list[str]:
    """Write what follows `--` so that it is no option; argparse cannot mix that with options."""
    if "--" not in words:
        return list(words)
    index = words.index("--")
    after = (
        f"./{word}" if word.startswith("-") and word != "-" else word for word in words[index + 1 :]
    )
    return [*words[:index], *after]


def overview() -> str:
    """Return what `devicelint` alone and `devicelint --help` print."""
    width = max(map(len, COMMANDS))
    commands = "".join(f"  {name.ljust(width)}  {text}\n" for name, text in COMMANDS.items())
    return OVERVIEW + commands + "\n" + check_parser("devicelint [check]").format_help()


def check_parser(prog: str = "devicelint check") -> Parser:
    """Return the parser of `devicelint [check]`."""
    parser = Parser(prog, COMMANDS["check"] + ".", CHECK_DETAILS)
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or folders (.); - reads standard input"
    )
    _add_fix_options(parser)
    add_proof_options(parser)
    add_rule_options(parser)
    add_existing_options(parser)
    _add_report_options(parser)
    add_speed_options(parser)
    parser.set_defaults(check=False, entry=None)
    return parser


def _add_fix_options(parser: Parser) -> None:
    group = parser.add_argument_group("fixes")
    group.add_argument("--fix", action="store_true", help="make the safe fixes in the files")
    group.add_argument(
        "--unsafe-fixes",
        action="store_true",
        default=None,
        help="with --fix or --diff: also the fixes that may change what the program does",
    )
    group.add_argument(
        "--diff", action="store_true", help="write nothing; print what --fix would change"
    )
    add_interactive(group, "with --fix: ")


def add_rule_options(parser: Parser) -> None:
    """Which rules are checked, and by which settings."""
    group = parser.add_argument_group("rules")
    group.add_argument(
        "--select",
        type=codes,
        action="extend",
        metavar="CODES",
        help="only these: codes, prefixes or names, e.g. DEV1,DEV303,discarded-move",
    )
    group.add_argument(
        "--extend-select",
        type=codes,
        action="extend",
        metavar="CODES",
        help="also these, e.g. rules that are off by default: DEV6, blocking-copy",
    )
    add_settings_options(group)
    add_file_options(parser)


def _add_report_options(parser: Parser) -> None:
    group = parser.add_argument_group("report")
    add_format_options(group)
    group.add_argument("--statistics", action="store_true", help="only print counts for each rule")
    group.add_argument(
        "--exit-zero", action="store_true", help="exit with 0 even if there are findings"
    )
    add_common_options(group)
    shown = group.add_mutually_exclusive_group()
    shown.add_argument(
        "--show-files", action="store_true", help="list the files to check, and check none"
    )
    shown.add_argument(
        "--show-settings",
        action="store_true",
        help="print the settings of the first PATH, as the command config does",
    )
    group.add_argument("--version", action="store_true", help="print the version and exit")


def explain_parser() -> Parser:
    """Return the parser of `devicelint explain`."""
    parser = Parser(
        "devicelint explain",
        COMMANDS["explain"] + ": what it reports, why, how to fix it, and what it does not report.",
        "examples:\n  devicelint explain DEV101\n  devicelint explain module-input-elsewhere\n",
    )
    parser.add_argument("rule", metavar="RULE", help="the code or the name of a rule")
    return parser


def completion_parser() -> Parser:
    """Return the parser of `devicelint completion`."""
    parser = Parser("devicelint completion", COMMANDS["completion"] + ".", COMPLETION_DETAILS)
    parser.add_argument(
        "shell", choices=("bash", "fish", "zsh"), metavar="SHELL", help="bash, fish or zsh"
    )
    return parser


def rules_parser() -> Parser:
    """Return the parser of `devicelint rules`."""
    return Parser("devicelint rules", COMMANDS["rules"] + ": code, severity, name and summary.")


def why_parser() -> Parser:
    """Return the parser of `devicelint why`."""
    parser = Parser(
        "devicelint why",
        COMMANDS["why"] + ": each step with its line, across files.",
        "examples:\n  devicelint why train.py:42\n  devicelint why notebook.ipynb:3:12\n",
    )
    parser.add_argument(
        "place", metavar="FILE:LINE", help="a line; for a notebook, a cell and a line in it"
    )
    parser.add_argument(
        "--verdict",
        action="store_true",
        help="print each clash on the line, reported or not, and the reasons",
    )
    return parser


def trace_parser() -> Parser:
    """Return the parser of `devicelint trace`."""
    parser = Parser(
        "devicelint trace",
        COMMANDS["trace"] + ": where it is, or how it moves.",
        "example:\n  devicelint trace train.py | less -R\n",
    )
    parser.add_argument(
        "file", metavar="FILE", help="a script, notebook or Markdown; - reads standard input"
    )
    parser.add_argument(
        "--stdin-filename", metavar="PATH", help="the name of the file that is read from -"
    )
    return parser
