"""Checks that are more than one run, or that tell more than what is found."""

from __future__ import annotations

from argparse import Namespace

from devicelint.cli import terminal, watching
from devicelint.cli.check import Check
from devicelint.cli.checking import Checking
from devicelint.cli.usage import UsageError
from devicelint.finding import InputError
from devicelint.reporters import profile
from devicelint.reporters.visible import printable
from devicelint.timing import timing


def run(options: Namespace) -> int:
    """Run with `--watch` or `--profile` and return the exit status."""
    if options.profile and options.watch:
        raise UsageError("--profile times one run: give it without --watch")
    return _profiled(options) if options.profile else _watched(options)


def _watched(options: Namespace) -> int:
    watching.refuse_contradictions(options)
    before: list[Checking] = []

    def check() -> None:
        try:
            one = Check(options)
            one.checking.take_over(before)
            one.run()
        except InputError as error:  # Somebody is about to mend it.
            terminal.say(printable(str(error)))

    return watching.watch(check, options.paths)


def _profiled(options: Namespace) -> int:
    options.jobs, options.no_cache = 1, True
    with timing() as timed:
        check = Check(options)
        status = check.run()
        for line in profile.render(timed.end(), check.tally.files):
            terminal.say(line)
    return status
