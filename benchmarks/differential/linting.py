"""What the linter says of a program, with the settings that it has by default."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from benchmarks.checking import check_source
from benchmarks.differential.claims import Claim, Seen, claims_of
from benchmarks.differential.judging import Verdict, judged
from benchmarks.differential.program import Program
from benchmarks.differential.running import Ran
from devicelint.domain.worlds import World
from devicelint.finding import Finding, Span
from devicelint.interpreter import explore
from devicelint.interpreter.worlds import Walk
from devicelint.linter import locations, walks
from devicelint.linter.locations import RawFinding
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project


@dataclass(frozen=True)
class Said:
    """What the linter says.

    Attributes:
        claims: its findings.
        fault: why it could not check the program; empty if it could.
    """

    claims: tuple[Claim, ...]
    fault: str = ""


@dataclass
class _Observed:
    """What the linter knows of its findings and does not say.

    Attributes:
        worlds: those of each finding, by its code, its place and what it says.
        walked: the worlds in which the program was walked.
    """

    worlds: dict[tuple[str, Span, str], tuple[World, ...]] = field(default_factory=dict)
    walked: tuple[World, ...] = ()

    def explore(self, *given: Any, **named: Any) -> tuple[Walk, ...]:
        """Walk as ever."""
        walks = explore(*given, **named)
        self.walked = tuple(walk.world for walk in walks)
        return walks

    def locate(self, raw: RawFinding, *given: Any) -> Finding:
        """Locate a finding as ever."""
        finding = _LOCATE(raw, *given)
        self.worlds[finding.code, finding.span, finding.message] = raw.worlds
        return finding

    def seen(self, finding: Finding) -> Seen:
        """A finding with its worlds; what rests on no walk has none, and names no machine."""
        key = (finding.code, finding.span, finding.message)
        return Seen(finding, self.worlds.get(key, ()), self.walked)


_LOCATE = locations._finding


@contextmanager
def _observed() -> Iterator[_Observed]:
    """Look on while the linter works; it says what it would say."""
    observed = _Observed()
    with (
        patch.object(walks, "explore", observed.explore),
        patch.object(locations, "_finding", observed.locate),
    ):
        yield observed


class Linter:
    """Checks programs that stand for one file.

    Args:
        file: which one; what it imports is looked for beside it.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._project = Project()

    def of(self, program: Program) -> Said:
        """What it says of a program."""
        with _observed() as observed:
            outcome = check_source(SourceFile(program.text, self._file), self._project)
        if outcome.fate != "checked":
            return Said((), f"{outcome.fate}: {outcome.told}")
        return Said(claims_of(program.text, map(observed.seen, outcome.findings)))

    def judge(self, ran: Ran) -> Verdict:
        """Hold what it says of a program against what the program did."""
        said = self.of(ran.program)
        return judged(ran.program, ran.code, ran.runs, said.claims, said.fault)
