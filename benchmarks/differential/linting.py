"""What the linter says of a program, with the settings that it has by default."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.checking import check_source
from benchmarks.differential.claims import Claim, claims_of
from benchmarks.differential.judging import Verdict, judged
from benchmarks.differential.program import Program
from benchmarks.differential.running import Ran
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
        outcome = check_source(SourceFile(program.text, self._file), self._project)
        if outcome.fate != "checked":
            return Said((), f"{outcome.fate}: {outcome.told}")
        return Said(claims_of(program.text, outcome.findings))

    def judge(self, ran: Ran) -> Verdict:
        """Hold what it says of a program against what the program did."""
        said = self.of(ran.program)
        return judged(ran.program, ran.code, ran.runs, said.claims, said.fault)
