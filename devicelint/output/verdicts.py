"""What is held of the clashes on a line, for a reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devicelint.domain.standing import Level
from devicelint.output.paint import Paint, plain
from devicelint.output.visible import printable
from devicelint.output.why import heading

if TYPE_CHECKING:
    from devicelint.text.source import SourceFile
    from devicelint.views.verdicts import Judgement, Judgements


def render(source: SourceFile, judgements: Judgements, paint: Paint = plain) -> str:
    """Return the line, and each clash on it: its level, its evidence, and its excuses."""
    lines = [heading(source, judgements.line, paint)]
    told = [line for clash in judgements.clashes for line in _clash(clash, paint)]
    lines += told or ["  no clash on this line: no values on different devices are combined"]
    return "".join(f"{line}\n" for line in lines)


def _clash(clash: Judgement, paint: Paint) -> Iterator[str]:
    machines = " and ".join(clash.machines)
    what = paint(printable(_line(clash.what)), "bold")
    outcome = "excused" if clash.excuses else "reported"
    if clash.level is Level.POSSIBLE and not clash.excuses:
        outcome = "not reported unless asked for"
    yield f"  {what}: {clash.level.value}, {outcome}  {paint(machines, 'dim')}"
    for one in clash.evidence:
        yield f"    {printable(_line(one.code))}: {one.device}"
        for step in one.steps:
            yield f"      {printable(step.where)}: {printable(step.message)}"
    for excuse in clash.excuses:
        yield f"    excuse {excuse.name}: {excuse.reason}"


def _line(code: str) -> str:
    return " ".join(code.split())
