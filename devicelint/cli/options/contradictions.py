"""Options of `devicelint check` and `adopt` that make no sense together."""

from __future__ import annotations

from argparse import Namespace

from devicelint.cli import terminal
from devicelint.cli.options import existing
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import STDIN


def refuse_contradictions(options: Namespace) -> None:
    """Say before anything is done which options make no sense together; raises UsageError."""
    if STDIN in options.paths and len(options.paths) > 1:
        raise UsageError("- (standard input) cannot be checked together with other paths")
    if options.stdin_filename and options.paths != [STDIN]:
        raise UsageError("--stdin-filename names what - reads: give - as the only path")
    if options.unsafe_fixes and not (options.fix or options.diff):
        terminal.say("devicelint: --unsafe-fixes changes nothing without --fix or --diff")
    existing.refuse_contradictions(options)
    if options.interactive:
        from devicelint.cli.run import interactive

        interactive.refuse_contradictions(options)
    if options.prove:
        from devicelint.cli.run import proof

        proof.refuse_contradictions(options)
        return
    for name in ("steps", "timeout", "args"):
        if getattr(options, f"prove_{name}") is not None:
            terminal.say(f"devicelint: --prove-{name} changes nothing without --prove")
