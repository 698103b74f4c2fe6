"""Symbols: expressions that are said to be on one device, whatever that is, in one call."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, islice

from benchmarks.agreement.claims.files import FileClaims, WalkClaims
from benchmarks.agreement.claims.values import Claim
from benchmarks.agreement.comparing.allowing import fits_device
from benchmarks.agreement.comparing.places import Contradiction
from benchmarks.agreement.recording.places import Span
from benchmarks.agreement.records import FileRecord
from devicelint.domain.devices import Device

KIND = "symbol: two expressions on two devices"

MOST_PAIRS = 300
"""So many pairs of expressions of one symbol are looked at in one call."""

Placed = dict[Span, frozenset[str]]
"""Where the expressions of one call were."""


def groups_of(record: FileRecord, claims: FileClaims) -> int:
    """How many symbols are claimed of two or more expressions that were recorded."""
    found: set[tuple[str, Span]] = set()
    for walk in claims.walks:
        for symbol, spans in _by_symbol(walk, set(record.places)).items():
            if len(spans) > 1:
                found.add((str(symbol), min(spans)))
    return len(found)


def symbol_contradictions(record: FileRecord, claims: FileClaims) -> Iterator[Contradiction]:
    """The symbols that stood for two devices in one call: each of a function once."""
    by_span: dict[Span, list[int]] = {}
    for number, walk in enumerate(claims.walks):
        for span in walk:
            by_span.setdefault(span, []).append(number)
    for function in record.functions.values():
        found: dict[str, Contradiction] = {}
        for call, times in function.mixed.items():
            placed = dict(call)
            numbers = sorted({one for span in placed for one in by_span.get(span, ())})
            walks = [claims.walks[number] for number in numbers]
            for one in _of_call(placed, walks, times, claims):
                found.setdefault(one.claim, one)
        yield from found.values()


def _of_call(
    placed: Placed, walks: list[WalkClaims], times: int, claims: FileClaims
) -> Iterator[Contradiction]:
    for walk in walks:
        for symbol, spans in _by_symbol(walk, set(placed)).items():
            apart = next(_apart(sorted(spans), placed, walks), None)
            if apart is not None:
                (first, one), (second, other) = apart
                claim = next(iter(walk[second]))
                seen = f"{one} at {first.line}:{first.column} and {other} here"
                told = f"{symbol}, as at {first.line}:{first.column}"
                yield Contradiction(KIND, second, told, claims.history(claim), seen, times)


def _by_symbol(walk: WalkClaims, recorded: set[Span]) -> dict[Device, list[Span]]:
    """The recorded expressions of each symbol that a walk names alone."""
    found: dict[Device, list[Span]] = {}
    for span in recorded & walk.keys():
        devices = {one.device for one in walk[span]}
        symbol = devices.pop() if len(devices) == 1 else None
        if symbol is not None and next(iter(walk[span])).is_symbol:
            found.setdefault(symbol, []).append(span)
    return found


def _apart(
    spans: list[Span], placed: Placed, walks: list[WalkClaims]
) -> Iterator[tuple[tuple[Span, str], tuple[Span, str]]]:
    """Pairs of expressions on two devices, which no walk of them allows."""
    pairs = combinations_with_replacement(spans, 2)
    for first, second in islice((one for one in pairs if _differ(*one, placed)), MOST_PAIRS):
        for one in sorted(placed[first]):
            for other in sorted(placed[second]):
                both = (first, one), (second, other)
                if one != other and not any(_allowed(walk, *both) for walk in walks):
                    yield both


def _differ(first: Span, second: Span, placed: Placed) -> bool:
    return len(placed[first] | placed[second]) > 1


def _allowed(walk: WalkClaims, first: tuple[Span, str], second: tuple[Span, str]) -> bool:
    """Whether a walk of both lets each be where it was."""
    return any(
        fits_device(one, first[1]) and fits_device(other, second[1]) and not _are_one(one, other)
        for one in walk.get(first[0], ())
        for other in walk.get(second[0], ())
    )


def _are_one(one: Claim, other: Claim) -> bool:
    return one.is_symbol and one.device == other.device
