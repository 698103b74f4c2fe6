"""The mismatches of a run as reports show them: each place once, whichever ranks saw it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source; `text` is what stood there during the run."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A tensor that a module got on another device than its own.

    Attributes:
        what: `encoder (Linear) got argument 'input' (float32[4, 8]) on cpu`.
        expected: `cuda:0, as parameter 'weight'`.
        ranks: `rank 1 on node7`, one for each that saw it; empty for a run of one process.
    """

    what: str
    expected: str
    failed_at: Place | None
    entered_at: Place | None
    advice: str
    ranks: tuple[str, ...]


def gather(found: Iterable[Mapping[str, Any]]) -> tuple[Misplaced, ...]:
    """Read what `Mismatch.to_dict` wrote; what is missing there is left out here."""
    by_place: dict[tuple[object, ...], tuple[Mapping[str, Any], list[str]]] = {}
    for each in found:
        failed_at = _place(each.get("failed_at"))
        key = (each.get("module"), each.get("argument"), failed_at, _place(each.get("entered_at")))
        _, ranks = by_place.setdefault(key, (each, []))
        if (rank := str(each.get("rank") or "")) and rank not in ranks:
            ranks.append(rank)
    return tuple(_misplaced(each, ranks) for each, ranks in by_place.values())


def _misplaced(found: Mapping[str, Any], ranks: list[str]) -> Misplaced:
    module, kind = str(found.get("module") or ""), str(found.get("module_class") or "a module")
    tensor = _mapping(found.get("tensor"))
    dtype = str(tensor.get("dtype", "tensor")).removeprefix("torch.")
    shape = ", ".join(map(str, tensor.get("shape") or ()))
    anchor, advice = str(found.get("anchor") or ""), str(found.get("advice") or "")
    return Misplaced(
        what=f"{f'{module} ({kind})' if module else kind} got {found.get('argument', 'a tensor')} "
        f"({dtype}[{shape}]) on {tensor.get('device', 'another device')}",
        expected=str(found.get("expected", "")) + (f", as {anchor}" if anchor else ""),
        failed_at=_place(found.get("failed_at")),
        entered_at=_place(found.get("entered_at")),
        advice=advice[:1].upper() + advice[1:],
        ranks=tuple(ranks),
    )


def _place(found: object) -> Place | None:
    line = _mapping(found)
    if not line:
        return None
    return Place(str(line.get("file", "")), int(line.get("line", 0)), str(line.get("text", "")))


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}
