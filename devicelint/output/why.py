"""Why the values of a line live where they do, for a reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devicelint.output.paint import Paint, plain
from devicelint.output.visible import printable

if TYPE_CHECKING:
    from devicelint.text.source import SourceFile
    from devicelint.views.why import Account, Why


def render(source: SourceFile, why: Why, paint: Paint = plain) -> str:
    """Return the line, and for each value on it its device and the steps that led there."""
    lines = [heading(source, why.line, paint)]
    steps = [line for account in why.accounts for line in _account(account, paint)]
    lines += steps or ["  no value on this line has a known device, or no path reaches it"]
    return "".join(f"{line}\n" for line in lines)


def heading(source: SourceFile, line: int, paint: Paint = plain) -> str:
    """A line of a file, with its place."""
    place = f"{printable(source.path)}:{source.location_of_line(line, 0).line_named}:"
    return f"{paint(place, 'bold')} {printable(source.line_text(line).strip())}"


def _account(account: Account, paint: Paint) -> Iterator[str]:
    code = " ".join(account.code.split())
    machines = " and ".join(account.machines)
    yield f"  {paint(printable(code), 'bold')}: {account.device}  {paint(machines, 'dim')}"
    for step in account.steps:
        yield f"    {printable(step.where)}: {printable(step.message)}"
