"""What can be said to `devicelint adopt`."""

from __future__ import annotations

from devicelint.cli.options.existing import ALL_IS_NEW
from devicelint.cli.options.formats import add_format_options
from devicelint.cli.options.parser import COMMANDS, Parser
from devicelint.cli.options.shared import (
    add_common_options,
    add_file_options,
    add_interactive,
    add_proof_options,
    add_settings_options,
)
from devicelint.cli.options.speed import FROM_SCRATCH

ADOPT_DETAILS = """\
Rewrites a script that always trains on the CPU, or always on CUDA. It then
chooses one device, once, depending on what the machine has, and trains on it.
Lines that need information outside of the source are left to you, and reported.

examples:
  devicelint adopt train.py
  devicelint adopt --diff train.py
  devicelint adopt --style accelerator train.py
  devicelint adopt src --entry src/train.py
  devicelint adopt --interactive train.py
  devicelint adopt --prove --prove-args "--epochs 1" train.py

exit status: 0 done, or nothing to do, 1 something is left to you (with --diff
and --check: a file would be changed), 2 wrong usage or a file that could not be
changed
"""


def adopt_parser() -> Parser:
    """Return the parser of `devicelint adopt`."""
    parser = Parser("devicelint adopt", COMMANDS["adopt"] + ".", ADOPT_DETAILS)
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="files or folders; - reads standard input"
    )
    parser.add_argument(
        "--entry",
        metavar="FILE",
        help="the script that you run; the files that it uses are changed together with it, "
        "depending on what it passes to their functions; all files are written, or none",
    )
    _add_change_options(parser)
    add_proof_options(parser)
    add_settings_options(parser)
    add_file_options(parser)
    add_format_options(parser, "for what is left to you: ")
    add_common_options(parser)
    parser.set_defaults(fix=True, select=None, extend_select=None, statistics=False)
    parser.set_defaults(exit_zero=False, **ALL_IS_NEW, **FROM_SCRATCH)
    return parser


def _add_change_options(parser: Parser) -> None:
    group = parser.add_argument_group("changes")
    manner = group.add_mutually_exclusive_group()
    manner.add_argument("--diff", action="store_true", help="write nothing; print the changes")
    manner.add_argument(
        "--check", action="store_true", help="write nothing; list the files that would change"
    )
    add_interactive(manner)
    group.add_argument(
        "--unsafe-fixes",
        action="store_true",
        default=None,
        help="also change code that seems to need a GPU, or several, on purpose",
    )
    group.add_argument(
        "--style",
        choices=("to", "accelerator"),
        help="choose the device by its type (to), or with torch.accelerator (torch 2.6)",
    )
