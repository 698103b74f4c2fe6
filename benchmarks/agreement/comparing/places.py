"""Expressions by themselves: what is known of each, and whether it was so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.agreement.claims.files import FileClaims
from benchmarks.agreement.claims.values import NEITHER, Claim
from benchmarks.agreement.comparing.allowing import (
    NOWHERE,
    allows,
    fits_dimensions,
    fits_kind,
)
from benchmarks.agreement.recording.places import Span
from benchmarks.agreement.records import FileRecord, Seen

LEVELS = (
    "known",
    "known where called",
    "symbol",
    "partly",
    "unknown",
    "not a tensor",
    "path not walked",
    "function not walked",
    "file given up",
)
"""How much is known of an expression that gave a tensor, or a module that has tensors.

known: each walk names a device. known where called: not so, but walks from other files, which call
the function, name each device that was seen. symbol: each names a device or a symbol, one at least
a symbol. partly: some do, some do not know. unknown: none does. not a tensor: all say that it is
something else. path not walked: no walk comes to it, though one enters its function. function not
walked: none does. file given up: there is no walk at all.
"""


@dataclass(frozen=True)
class Contradiction:
    """Something that was claimed and was not so.

    Attributes:
        kind: a few words that many of them share.
        span: where it is.
        claim: what is claimed.
        history: how that is said to have come about.
        seen: what was seen instead.
        times: how often.
    """

    kind: str
    span: Span
    claim: str
    history: str
    seen: str
    times: int


def level_where_called(level: str, known: Collection[Claim], counts: Mapping[Seen, int]) -> str:
    """The same level, or that the calls of other files make known what was seen."""
    if level not in ("symbol", "partly", "unknown"):
        return level
    devices = [seen for seen in counts if seen.device not in NOWHERE]
    is_known = all(any(allows(one, seen) for one in known) for seen in devices)
    return "known where called" if is_known and devices else level


def level_of(span: Span, said: Mapping[Span, frozenset[Claim]], claims: FileClaims) -> str:
    """How much is known of an expression, given what is said of all of the file."""
    if claims.given_up:
        return "file given up"
    if span not in said:
        return "path not walked" if claims.is_entered(span) else "function not walked"
    return _level_of(said[span])


def _level_of(claims: frozenset[Claim]) -> str:
    placed = [one for one in claims if one.what != NEITHER]
    if not placed:
        return "not a tensor"
    silent = [one for one in placed if one.device is None]
    if silent:
        return "unknown" if len(silent) == len(placed) else "partly"
    return "known" if all(one.is_known for one in placed) else "symbol"


def reason_of(claims: frozenset[Claim]) -> str:
    """Why the device of an expression is not known: the first reason, in alphabetical order."""
    return min(one.told for one in claims if one.what != NEITHER and one.device is None)


def placed(counts: Mapping[Seen, int]) -> int:
    """How often an expression gave a tensor, or a module that is somewhere."""
    return sum(times for seen, times in counts.items() if seen.device not in NOWHERE)


def contradictions_of(record: FileRecord, claims: FileClaims) -> Iterator[Contradiction]:
    """The expressions of which no walk allows what was seen."""
    for span, said in claims.places().items():
        for kind, found in _by_kind(said, record.places.get(span, Counter())).items():
            (seen, _), *_ = found.most_common(1)
            nearest = _nearest(said, seen)
            told = "; ".join(sorted(map(str, said)))
            times = found.total()
            yield Contradiction(kind, span, told, claims.history(nearest), _told(seen), times)


def _by_kind(claims: frozenset[Claim], counts: Counter[Seen]) -> dict[str, Counter[Seen]]:
    """What was seen and no claim allows, by what is wrong with the claims."""
    wrong: dict[str, Counter[Seen]] = {}
    for seen, times in counts.items():
        kind = _wrong_with(claims, seen)
        if kind:
            wrong.setdefault(kind, Counter())[seen] += times
    return wrong


def _wrong_with(claims: frozenset[Claim], seen: Seen) -> str:
    fitting = [one for one in claims if allows(one, seen)]
    if fitting:
        is_wrong = seen.what != "module" and not fits_dimensions(fitting, seen)
        return "dimensions: taken for 0-dim, or the reverse" if is_wrong else ""
    what = "a module" if seen.what == "module" else "a tensor"
    if any(fits_kind(one, seen) for one in claims):
        return f"device: {what} on another one"
    if all(one.what == NEITHER for one in claims):
        told = min(one.told for one in claims)
        return f"kind: {what} taken for {told}"
    return f"kind: {what} taken for {'a tensor' if what == 'a module' else 'a module'}"


def _nearest(claims: frozenset[Claim], seen: Seen) -> Claim:
    """The claim that is quoted."""
    ranked = sorted(claims, key=lambda one: (not fits_kind(one, seen), str(one)))
    return ranked[0]


def _told(seen: Seen) -> str:
    return f"{seen.what} on {seen.device}{' (0-dim)' if seen.scalar else ''}"
