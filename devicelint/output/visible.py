"""Characters to terminal cells: what a line looks like, and where each character of it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, pairwise

from _device_pages.visible import symbol

TAB_WIDTH = 4
ELLIPSIS = "…"
MINIMAL_REACH = 8
"""So many cells on both sides of each end are shown, however narrow the terminal."""


@dataclass(frozen=True)
class Strip:
    """One line as it is shown; `cells[i]` is the cell of character i, with one more for the end."""

    text: str
    cells: tuple[int, ...]


def printable(text: str) -> str:
    """Write the text on one line, with nothing in it that a terminal would obey."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def strip(line: str, columns: Sequence[tuple[int, int]], width: int) -> Strip:
    """Show a line in about `width` cells, without what is far from the `columns`."""
    shown = list(_expanded(line))
    cells = list(accumulate(map(cell_width, shown), initial=0))
    if cells[-1] <= width:
        return Strip("".join(shown), tuple(cells))
    return _cropped(shown, _kept(cells, columns, width))


def cell_width(text: str) -> int:
    """How many cells of a terminal the text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _expanded(line: str) -> Iterable[str]:
    cell = 0
    for character in line:
        shown = " " * (TAB_WIDTH - cell % TAB_WIDTH) if character == "\t" else symbol(character)
        cell += cell_width(shown)
        yield shown


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _kept(cells: Sequence[int], columns: Sequence[tuple[int, int]], width: int) -> list[bool]:
    """Which characters stay: those close to either end of the columns in question."""
    ends = {cells[end] for column in columns for end in column} or {0}
    kept: list[bool] = []
    for reach in (width // 2, width // 4, width // 8, MINIMAL_REACH):
        kept = [any(abs(cell - end) <= reach for end in ends) for cell in cells[:-1]]
        if sum(compress(_widths(cells), kept)) <= width:
            break
    return kept


def _widths(cells: Sequence[int]) -> Iterable[int]:
    return (end - start for start, end in pairwise(cells))


def _cropped(shown: Sequence[str], kept: Sequence[bool]) -> Strip:
    parts: list[str] = []
    cells = []
    cell = 0
    leaving_out = False
    for text, keep in zip(shown, kept, strict=True):
        if keep:
            parts.append(text)
        elif not leaving_out:
            parts.append(ELLIPSIS)
        # A left-out character stands on the ellipsis that replaces it.
        cells.append(cell - 1 if leaving_out and not keep else cell)
        cell += cell_width(text) if keep else int(not leaving_out)
        leaving_out = not keep
    return Strip("".join(parts), (*cells, cell))
