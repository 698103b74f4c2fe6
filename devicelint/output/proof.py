"""What a script did on each machine, before and after its fixes: a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from devicelint.output.paint import Paint, plain
from devicelint.output.visible import printable

if TYPE_CHECKING:
    from rich.table import Table

DEFAULT_WIDTH = 100


def render(proof: dict[str, Any], paint: Paint = plain, width: int = DEFAULT_WIDTH) -> str:
    """Return the table of a proof, as runtime_guard has it."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    columns = {"before": proof["before"], "after": proof["after"]}
    if proof["before"] is None:
        columns = {"as it is": proof["after"]}
    for name in (f"in {_steps(proof)}", *columns):
        table.add_column(name, overflow="fold", min_width=9)
    for row in zip(*columns.values(), strict=True):
        table.add_row(row[0]["machine"], *map(_cell, row))
    return _printed(table, paint, width) + _losses(proof) + _unreached(proof)


def _printed(table: Table, paint: Paint, width: int) -> str:
    import io

    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=width,
        color_system=None if paint is plain else "standard",
        force_terminal=paint is not plain,
        legacy_windows=False,
    )
    with console.capture() as captured:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _losses(proof: dict[str, Any]) -> str:
    if proof["losses"] is None:
        return ""
    sentence: str = proof["losses"]["told"]
    return printable(f"{sentence[0].upper()}{sentence[1:]}") + "\n"


def unreached(proof: dict[str, Any]) -> str:
    """What is new and no run came to: `lines 4, 12, net.py:7`."""
    lines = proof["unreached_lines"]
    own = [f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"] if lines else []
    return ", ".join([*own, *proof["unreached_elsewhere"]])


def _unreached(proof: dict[str, Any]) -> str:
    which = printable(unreached(proof))
    steps = "use --prove-steps for more training steps"
    return f"No run reached the new code on {which}: {steps}\n" if which else ""


def _steps(proof: dict[str, Any]) -> str:
    return f"{proof['steps']} step" + ("s" if proof["steps"] != 1 else "")


def _cell(run: dict[str, Any]) -> Any:
    from rich.text import Text

    return Text(printable(run["told"]), style="" if run["ending"] == "passed" else "red")
