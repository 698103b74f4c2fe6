"""The options of a command line: what they are where nobody says otherwise."""

from __future__ import annotations

from devicelint.domain.values import Const, Symbolic, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run

_OPTIONS = "@options"
"""Where the defaults of the command line's options lie."""


def note_option(run: Run, arguments: Arguments) -> None:
    """`parser.add_argument("--dist-backend", default="nccl")`."""
    default = arguments.keywords.get("default")
    if default is None or not isinstance(default.value, Const):
        return
    named = [arguments.keywords["dest"]] if "dest" in arguments.keywords else arguments.positional
    for one in named:
        if isinstance(one.value, Const):
            option = str(one.value.value).lstrip("-").replace("-", "_")
            run.state.write(_OPTIONS, option, default.value)


def default_of(run: Run, value: Symbolic) -> Value:
    """What an option is where nobody says otherwise."""
    last = value.origin.rpartition(".")[2]
    return run.state.read(_OPTIONS, last) or Unknown(f"{value.origin} has no default")
