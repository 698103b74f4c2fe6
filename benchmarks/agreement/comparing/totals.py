"""One file, one subject, one half: what is counted of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.agreement.claims.called import claims_of_calls
from benchmarks.agreement.claims.files import FileClaims, claims_of_file
from benchmarks.agreement.claims.values import Claim
from benchmarks.agreement.comparing.owned import OwnedCounts, compare_owned
from benchmarks.agreement.comparing.places import (
    Contradiction,
    contradictions_of,
    level_of,
    level_where_called,
    placed,
    reason_of,
)
from benchmarks.agreement.comparing.reasons import kind_of_reason
from benchmarks.agreement.comparing.symbols import groups_of, symbol_contradictions
from benchmarks.agreement.recording.places import Span
from benchmarks.agreement.records import FileRecord, Record
from devicelint.workspace.project import Project

_NOT_CALLED: Mapping[Span, frozenset[Claim]] = {}


@dataclass
class Totals:
    """What is counted.

    Attributes:
        files: those of which something was recorded.
        expressions: those that are noted, whatever they gave.
        places: by level, the expressions that gave a tensor, or a module that has tensors.
        evaluations: by level, how often they did.
        placeless: those that gave only modules without tensors.
        unwalked: of paths that are not walked, the kinds of expression.
        reasons: why expressions are unknown or partly so, by the wording.
        reasons_evaluated: the same, by how often these were evaluated.
        symbols: how many symbols were claimed of two recorded expressions or more.
        calls: how many calls of functions were recorded, and how many saw several devices.
        contradictions: by kind, how many.
        contradicted: by kind, how often what was evaluated contradicted the claim.
        owned: how attributes of modules are taken.
        unread: files, calls and lines of which something is missing.
    """

    files: int = 0
    expressions: int = 0
    places: Counter[str] = field(default_factory=Counter)
    evaluations: Counter[str] = field(default_factory=Counter)
    placeless: int = 0
    unwalked: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    reasons_evaluated: Counter[str] = field(default_factory=Counter)
    symbols: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    contradictions: Counter[str] = field(default_factory=Counter)
    contradicted: Counter[str] = field(default_factory=Counter)
    owned: OwnedCounts = field(default_factory=OwnedCounts)
    unread: Counter[str] = field(default_factory=Counter)

    def add(self, other: Totals) -> None:
        """Count those of another part, too."""
        for name, value in vars(other).items():
            if isinstance(value, OwnedCounts):
                self.owned.add(value)
            else:
                setattr(self, name, getattr(self, name) + value)


@dataclass(frozen=True)
class Found:
    """One case for a reader: where it is, what was claimed, and what was seen."""

    path: str
    kind: str
    place: str
    claim: str
    history: str
    seen: str
    times: int


def compare(record: Record, root: Path, accelerators: int) -> tuple[Totals, list[Found]]:
    """Hold what devicelint says of the recorded files against what was recorded."""
    totals = Totals()
    found: list[Found] = []
    project = Project()
    called = claims_of_calls(root, project, accelerators)
    for path, file in sorted(record.files.items()):
        claims = claims_of_file(root / path, project, accelerators)
        known = called.get((root / path).resolve(), {})
        one, cases = compare_file(path, file, claims, known)
        totals.add(one)
        found.extend(cases)
    totals.unread["files without notes"] += len(record.failed)
    totals.unread["calls not kept"] += record.dropped
    totals.unread["lines not read"] += record.unfinished
    return totals, found


def compare_file(
    path: str,
    record: FileRecord,
    claims: FileClaims,
    called: Mapping[Span, frozenset[Claim]] = _NOT_CALLED,
) -> tuple[Totals, list[Found]]:
    """The same for one file, with what the calls of others make known in it."""
    totals = Totals(files=1, expressions=record.expressions)
    _count_levels(totals, record, claims, called)
    totals.symbols = groups_of(record, claims)
    for function in record.functions.values():
        totals.calls["calls"] += function.calls
        totals.calls["on several devices"] += sum(function.mixed.values())
    wrong = [*contradictions_of(record, claims), *symbol_contradictions(record, claims)]
    for one in wrong:
        totals.contradictions[one.kind] += 1
        totals.contradicted[one.kind] += one.times
    totals.owned, attributes = compare_owned(record, claims)
    found = [_found(path, one) for one in wrong]
    for each in attributes:
        kind = f"owned: a {each.seen} taken for {each.taken_for}"
        found.append(Found(path, kind, each.attribute, each.taken_for, "", each.seen, 1))
    return totals, found


def _count_levels(
    totals: Totals,
    record: FileRecord,
    claims: FileClaims,
    called: Mapping[Span, frozenset[Claim]],
) -> None:
    said = claims.places()
    for span, counts in record.places.items():
        times = placed(counts)
        if not times:
            totals.placeless += 1
            continue
        level = level_of(span, said, claims)
        level = level_where_called(level, called.get(span, ()), counts)
        totals.places[level] += 1
        totals.evaluations[level] += times
        if level == "path not walked":
            totals.unwalked[record.kinds[span]] += 1
        elif level in ("unknown", "partly"):
            reason = kind_of_reason(reason_of(said[span]))
            totals.reasons[reason] += 1
            totals.reasons_evaluated[reason] += times


def _found(path: str, one: Contradiction) -> Found:
    place = f"{one.span.line}:{one.span.column}"
    return Found(path, one.kind, place, one.claim, one.history, one.seen, one.times)
