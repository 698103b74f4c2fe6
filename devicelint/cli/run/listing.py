"""Lists the files that a run would check: `devicelint --show-files`."""

from __future__ import annotations

import sys
from argparse import Namespace

from devicelint.cli.run.inputs import Unreadable, inputs
from devicelint.cli.run.settings import RunSettings
from devicelint.cli.run.tally import Tally


def run(options: Namespace) -> int:
    """Print the files, one on a line, and return the exit status: 2 if some cannot be listed."""
    tally = Tally()
    for each in inputs(options.paths, options.stdin_filename, RunSettings(options), tally):
        if isinstance(each, Unreadable):
            tally.problem(each.error)
        else:
            sys.stdout.write(f"{each.path}\n")
    return 2 if tally.problems else 0
