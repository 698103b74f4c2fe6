"""`--interactive`: shows what each fix changes, and asks whether to make it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence

from devicelint.cli import terminal
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import STDIN
from devicelint.finding import Finding
from devicelint.output import diff
from devicelint.output.visible import printable
from devicelint.text.source import SourceFile

QUESTION = "Make this fix? [y]es, [n]o, [a]ll that follow, [q]uit: "
HELP = "y makes it, n leaves it, a makes it and asks no more, q leaves it and all that follow"

_STYLES = {"+++": "bold", "---": "bold", "@": "cyan", "+": "green", "-": "red"}


def refuse_contradictions(options: Namespace) -> None:
    """Say before anything is asked which options leave nobody to ask, or nothing to ask about.

    Raises:
        UsageError: the options make no sense together.
    """
    if options.diff or options.check or not options.fix:
        raise UsageError("--interactive asks before fixes are written: give it with --fix alone")
    if STDIN in options.paths:
        raise UsageError("--interactive reads the answers where - reads the file: give a path")


class Asking:
    """One person, who is asked about every fix of a run until they have heard enough."""

    def __init__(self) -> None:
        """Nobody was asked yet."""
        self.over = False
        self._all = False
        self._paint = terminal.paint_for(sys.stderr)

    def __call__(self, fixes: Sequence[Finding], before: SourceFile, after: SourceFile) -> bool:
        """Whether to make these fixes, which turn one text into the other."""
        if self._all:
            return True
        for line in self._shown(fixes, before, after):
            terminal.say(line)
        answer = self._answer()
        self._all = answer == "a"
        self.over = answer == "q"
        return answer in "ya"

    def _shown(
        self, fixes: Sequence[Finding], before: SourceFile, after: SourceFile
    ) -> Iterator[str]:
        first, *others = fixes
        location = before.location(first.span.start)
        place = self._paint(printable(f"{before.path}:{location}:"), "bold")
        yield f"{place} {first.code} {first.name}: {printable(first.message)}"
        if first.fix is not None:
            calls = f", with {len(others)} that it calls for" if others else ""
            yield f"  fix: {printable(first.fix.message)} ({first.fix.safety.value}{calls})"
        for changed in diff.render(before, after).decode(errors="replace").splitlines():
            style = next((_STYLES[key] for key in _STYLES if changed.startswith(key)), "")
            shown = printable(changed.expandtabs(4))
            yield self._paint(shown, style) if style else shown

    def _answer(self) -> str:
        """The first letter of an answer that makes sense; where nobody answers, it is to quit."""
        while True:
            sys.stderr.write(QUESTION)
            sys.stderr.flush()
            said = sys.stdin.readline()
            if not sys.stdin.isatty():
                terminal.say(said.strip())
            answer = said.strip().lower()
            if not said:
                return "q"
            if answer and any(word.startswith(answer) for word in ("yes", "no", "all", "quit")):
                return answer[0]
            terminal.say(HELP)
