"""What the calls of a project show of the functions of its files: of a library, its tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.agreement.claims.files import located, of_machine
from benchmarks.agreement.claims.values import Claim
from benchmarks.agreement.claims.walking import Claiming, FrameClaims, WorldClaims
from benchmarks.agreement.recording.places import Span
from benchmarks.checking import LIMIT, TookTooLong, limited
from devicelint.config import Config
from devicelint.finding import InputError
from devicelint.interpreter import Program, explore
from devicelint.interpreter.engine.budget import BudgetExceeded
from devicelint.interpreter.engine.frame import Frame
from devicelint.linter.program import program_of
from devicelint.text.source import SourceFile
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project

CalledClaims = Mapping[Path, Mapping[Span, frozenset[Claim]]]
"""By file, the expressions that walks from other files have on a known device."""


def claims_of_calls(root: Path, project: Project, accelerators: int) -> CalledClaims:
    """Walk through all files below `root`, and keep what they know in the others' functions."""
    held: dict[Program, tuple[Frame, FrameClaims]] = {}
    for path in sorted(root.rglob("*.py")):
        for frame, claims in _walks_elsewhere(path, project, accelerators):
            program = project.program(str(frame.home))
            if program is None:
                continue
            _, noted = held.setdefault(program, (frame, {}))
            for node, said in claims.items():
                known = [one for one in said if one.is_known]
                if known:
                    noted.setdefault(node, {}).update(dict.fromkeys(known))
    return {Path(program.path).resolve(): _places(program, *one) for program, one in held.items()}


def _walks_elsewhere(
    path: Path, project: Project, accelerators: int
) -> Iterator[tuple[Frame, FrameClaims]]:
    """What the walks through a file say of the functions of others."""
    claiming = Claiming(follows=True)
    try:
        with limited(LIMIT):
            program = program_of(read_source(path), project, Config())
            walks = explore(program, claiming.listener_for, claiming.walker)
    except (BudgetExceeded, RecursionError, TookTooLong, InputError):
        return
    for world in of_machine([walk.world for walk in walks], accelerators):
        yield from claiming.worlds[world].elsewhere.items()


def _places(program: Program, frame: Frame, noted: FrameClaims) -> Mapping[Span, frozenset[Claim]]:
    source = SourceFile(program.text, program.path)
    return located(source, program.tree, [WorldClaims({frame: noted})]).places()
