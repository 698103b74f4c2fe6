"""Checks that are more than one run, or that report more than what is found."""

from __future__ import annotations

from argparse import Namespace

from devicelint.cli import terminal
from devicelint.cli.commands.check import Check
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run import watch
from devicelint.cli.run.checking import Checking
from devicelint.finding import InputError
from devicelint.output import profile
from devicelint.output.visible import printable
from devicelint.profiling import timing


def run(options: Namespace) -> int:
    """Run with `--watch` or `--profile` and return the exit status."""
    if options.profile and options.watch:
        raise UsageError("--profile times one run: give it without --watch")
    return _profiled(options) if options.profile else _watched(options)


def _watched(options: Namespace) -> int:
    watch.refuse_contradictions(options)
    before: list[Checking] = []

    def check() -> None:
        try:
            one = Check(options)
            one.checking.take_over(before)
            one.run()
        except InputError as error:  # Somebody is about to fix it.
            terminal.say(printable(str(error)))

    return watch.watch(check, options.paths)


def _profiled(options: Namespace) -> int:
    options.jobs, options.no_cache = 1, True
    with timing() as timed:
        check = Check(options)
        status = check.run()
        for line in profile.render(timed.end(), check.tally.files):
            terminal.say(line)
    return status
