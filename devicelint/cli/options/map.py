"""What `devicelint map` can be given."""

from __future__ import annotations

from devicelint.cli.options.parser import COMMANDS, Parser
from devicelint.cli.options.shared import add_settings_options, codes

DETAILS = """\
examples:
  devicelint map train.py --html train.html
  devicelint map notebook.ipynb --html - > notebook.html

with what a run really moved:
  python -m runtime_guard --record run.jsonl train.py
  devicelint map train.py --html train.html --recording run.jsonl
"""


def map_parser() -> Parser:
    """Return the parser of `devicelint map`."""
    parser = Parser(
        "devicelint map",
        COMMANDS["map"] + ": one HTML file that needs nothing else, and no network.",
        DETAILS,
    )
    parser.add_argument(
        "file", metavar="FILE", help="a script, notebook or Markdown; - reads standard input"
    )
    parser.add_argument(
        "--html", required=True, metavar="OUT", help="the page to write; - prints it"
    )
    parser.add_argument(
        "--recording",
        action="append",
        default=[],
        metavar="RUN",
        help="add a recording of runtime_guard to the picture; once for each process",
    )
    named = "the name of the file that is read from -"
    parser.add_argument("--stdin-filename", metavar="PATH", help=named)
    _add_finding_options(parser)
    parser.set_defaults(unsafe_fixes=None, baseline=None)
    return parser


def _add_finding_options(parser: Parser) -> None:
    group = parser.add_argument_group("findings")
    for option in ("--select", "--extend-select"):
        group.add_argument(
            option,
            type=codes,
            action="extend",
            metavar="CODES",
            help="only these" if option == "--select" else "also these, e.g. notes: DEV6",
        )
    add_settings_options(group)
