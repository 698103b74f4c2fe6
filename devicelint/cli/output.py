"""Where findings go, and in which format."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from devicelint.checked import Checked
from devicelint.cli import terminal
from devicelint.reporters.visible import printable

if TYPE_CHECKING:
    from devicelint.engine import Fixed


class Output:
    """Prints the findings of each file as it is done, or of all at the end, as the format asks."""

    def __init__(self, options: Namespace) -> None:
        """Take the format from the options."""
        self.options = options
        # With --fix, standard output is the mended text of what - read.
        writes = options.fix and not (options.diff or options.check)
        prints_source = writes and "-" in options.paths
        self.stream = sys.stderr if prints_source else sys.stdout
        self.paint = terminal.paint_for(self.stream)
        self.proofs: list[dict[str, Any]] = []

    def show(self, checked: Checked) -> None:
        """Print the findings of one file."""
        options = self.options
        if options.verbose:
            count = len(checked.findings)
            terminal.say(printable(f"{checked.source.path}: {count} found"))
        if not checked.findings or options.statistics or options.output_format == "json":
            return
        if options.output_format == "concise":
            from devicelint.reporters import concise

            self.stream.write(concise.render(checked, self.paint))
        else:
            from devicelint.reporters import text

            width = terminal.width_of(self.stream, text.DEFAULT_WIDTH)
            self.stream.write(text.render(checked, self.paint, width))

    def show_fixed(self, fixed: Fixed, is_stdin: bool, unsafe_fixes: bool) -> None:
        """Print what changed, and what is left and why."""
        if self.options.diff:
            from devicelint.reporters import diff

            terminal.write_bytes(diff.render(fixed.before, fixed.after))
        else:
            if is_stdin:
                terminal.write_bytes(fixed.after.to_bytes())
            self.show(Checked(fixed.after, fixed.remaining))
        self._tell_fixes(fixed, unsafe_fixes)

    def _tell_fixes(self, fixed: Fixed, unsafe_fixes: bool) -> None:
        """Say, in a line each, what was mended, and what was not, and why not."""
        from devicelint.reporters import fixing

        if self.options.quiet:
            return
        if not (self.options.diff or self.options.check):
            for line in (*fixing.done(fixed), *fixing.left(fixed, unsafe_fixes)):
                terminal.say(line)
        else:
            for line in fixing.rolled_back(fixed):
                terminal.say(line)
        if self.options.verbose:
            for line in fixing.silenced(fixed):
                terminal.say(line)

    def show_proof(self, proof: dict[str, Any], *, among_others: bool = False) -> None:
        """Print what the script did on each machine; as JSON, at the end."""
        from devicelint.reporters import proof as reporter

        self.proofs.append(proof)
        stream = sys.stderr if self.options.diff else self.stream
        if self.options.diff or self.options.output_format != "json":
            sys.stdout.flush()
            width = terminal.width_of(stream, reporter.DEFAULT_WIDTH)
            if among_others:
                stream.write(f"{printable(proof['script'])}\n")
            stream.write(reporter.render(proof, terminal.paint_for(stream), width))
        for problem in proof["problems"]:
            terminal.say(printable(f"devicelint: not proven: {problem}"))

    def close(self, found: Sequence[Checked]) -> None:
        """Print what is printed of all files together."""
        if self.options.diff:
            return
        is_json = self.options.output_format == "json"
        if self.options.statistics:
            from devicelint.reporters import statistics

            table = statistics.render_json(found) if is_json else statistics.render(found)
            self.stream.write(table)
        elif is_json:
            from devicelint.reporters import json

            self.stream.write(json.render(found, self.proofs))
