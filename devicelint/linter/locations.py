"""Turns reports at nodes into findings at places of the text, with fixes of the text.

The evidence of a finding may stand in another file, and so may its fix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.worlds import World
from devicelint.finding import FAR, Elsewhere, FileEdits, Finding, Fix, Location, Related, Span
from devicelint.fixes import Change, Rewrite, resolve
from devicelint.fixes import sites as sites_of
from devicelint.interpreter.engine.program import Program
from devicelint.rules import Report, Rule, line_of
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile

Spans = dict[cst.CSTNode, Span]

NOT_WRITABLE = "its fix cannot be written at that place"


@dataclass(frozen=True)
class RawFinding:
    """A report without its place: with the rule that made it, and the worlds in which it holds."""

    rule: Rule
    report: Report
    worlds: tuple[World, ...]


@dataclass(frozen=True, eq=False)
class File:
    """A file in which findings and their fixes may stand."""

    source: SourceFile
    module: cst.Module
    home: str = ""
    """Its absolute path."""


def locate_findings(
    files: Sequence[File],
    raw: Sequence[RawFinding],
    imported: Iterable[Program] = (),
    *,
    asks_torch: bool = False,
) -> tuple[list[Finding], ...]:
    """The findings of each of the files, the first of which was checked, in the order of the text.

    The evidence of a finding may stand in any file that was `imported`.
    """
    places = _Places(files, raw, asks_torch)
    here = {node for spans in places.spans for node in spans}
    far = located_elsewhere([site for site in _sites_of(raw) if site not in here], imported)
    fixes = places.fixes()
    found: list[list[Finding]] = []
    for index, (file, spans) in enumerate(zip(files, places.spans, strict=True)):
        others = places.elsewhere(index) | far
        mine = (
            _finding(each, spans, others, fix, file.source)
            for each, fix in zip(raw, fixes, strict=True)
            if _node(each.report.site) in spans
        )
        found.append(sorted(mine, key=lambda finding: (finding.span, finding.code)))
    return tuple(found)


def _sites_of(raw: Iterable[RawFinding]) -> Iterator[cst.CSTNode]:
    for each in raw:
        yield _node(each.report.site)
        yield from (_node(site) for site, _ in each.report.related)


class _Places:
    """Where the nodes stand that reports and their fixes name, file by file."""

    def __init__(self, files: Sequence[File], raw: Sequence[RawFinding], asks_torch: bool) -> None:
        self._files = files
        self._raw = raw
        self._asks_torch = asks_torch
        self._rewrites = [each.report.fix for each in raw]
        self._shown = frozenset(_sites_of(raw))
        wanted = dict.fromkeys((*self._shown, *self._sites_of_changes()))
        self.spans: list[Spans] = []
        for file in files:
            mine = self._statements_of(file) if file is files[0] else ()
            spans = locate(file.module, file.source, (*wanted, *mine)) if wanted else {}
            wanted = {site: None for site in wanted if site not in spans}
            self.spans.append(spans)

    def elsewhere(self, index: int) -> dict[cst.CSTNode, Elsewhere]:
        """What stands in the other files, as one of them shows it."""
        return {
            site: _elsewhere(_from_here(file.home), file.source.location(spans[site].start))
            for other, (file, spans) in enumerate(zip(self._files, self.spans, strict=True))
            if other != index
            for site in self._shown & spans.keys()
        }

    def fixes(self) -> list[Fix | str]:
        """The fix of each report, or why it has none."""
        parts = [{} if fix is None else self._by_file(fix) for fix in self._rewrites]
        resolved: list[dict[int, Fix | None]] = [{} for _ in parts]
        for index in sorted({index for part in parts for index in part}):
            mine = [(number, part[index]) for number, part in enumerate(parts) if index in part]
            fixes = self._resolved(index, [rewrite for _, rewrite in mine])
            for (number, _), fix in zip(mine, fixes, strict=True):
                resolved[number][index] = fix
        return [
            each.rule.unfixed if each.report.fix is None else self._whole(each.report.site, part)
            for each, part in zip(self._raw, resolved, strict=True)
        ]

    def _whole(self, site: Site, parts: Mapping[int, Fix | None]) -> Fix | str:
        """One fix of all its parts; none where one of them cannot be made."""
        if not parts or any(part is None for part in parts.values()):
            return NOT_WRITABLE if parts else FAR
        made = {index: part for index, part in parts.items() if part is not None}
        own = next((index for index, spans in enumerate(self.spans) if site in spans), 0)
        first = made.get(own) or replace(next(iter(made.values())), edits=())
        elsewhere = (
            FileEdits(self._files[index].home, part.edits)
            for index, part in made.items()
            if index != own
        )
        return replace(first, elsewhere=tuple(elsewhere))

    def _by_file(self, rewrite: Rewrite) -> dict[int, Rewrite]:
        """The changes of each file; nothing where one stands in a file that is not to change.

        What names no place, such as the definition of a device, goes with all the others.
        """
        homes = {change: self._home_of(change) for change in rewrite.changes}
        if None in homes.values():
            return {}
        placed = {home for home in homes.values() if home is not None and home >= 0} or {0}
        return {
            index: replace(
                rewrite,
                changes=tuple(c for c in rewrite.changes if homes[c] in (index, _ANYWHERE)),
            )
            for index in placed
        }

    def _home_of(self, change: Change) -> int | None:
        sites = list(change.sites())
        if not sites:
            homes = (index for index, file in enumerate(self._files) if file.home == change.file)
            return next(homes, _ANYWHERE)
        holding = (
            index for index, spans in enumerate(self.spans) if all(site in spans for site in sites)
        )
        return next(holding, None)

    def _resolved(self, index: int, rewrites: Sequence[Rewrite]) -> tuple[Fix | None, ...]:
        file, spans = self._files[index], self.spans[index]
        wanted = list(sites_of(rewrites, file.module))
        if any(site not in spans for site in wanted):
            spans = locate(file.module, file.source, wanted)
        return resolve(rewrites, file.module, file.source, spans, asks_torch=self._asks_torch)

    def _sites_of_changes(self) -> Iterator[cst.CSTNode]:
        for rewrite in self._rewrites:
            for change in () if rewrite is None else rewrite.changes:
                yield from change.sites()

    def _statements_of(self, file: File) -> Iterator[cst.CSTNode]:
        return sites_of([fix for fix in self._rewrites if fix is not None], file.module)


_ANYWHERE = -1


def located_elsewhere(
    sites: Sequence[cst.CSTNode], imported: Iterable[Program]
) -> dict[cst.CSTNode, Elsewhere]:
    """Where those places stand that are in other files."""
    found: dict[cst.CSTNode, Elsewhere] = {}
    for program in imported:
        if len(found) == len(set(sites)):
            break
        source, shown = SourceFile(program.text), _from_here(program.path)
        for site, span in locate(program.tree, source, sites).items():
            found[site] = _elsewhere(shown, source.location(span.start))
    return found


def _elsewhere(path: str, location: Location) -> Elsewhere:
    return Elsewhere(path, location.line, location.column, "", location.cell)


def _from_here(path: str) -> str:
    """A path as people would write it: from the current folder, where it lies in that."""
    there, here = Path(path), Path.cwd()
    return str(there.relative_to(here) if there.is_relative_to(here) else there)


def _node(site: Site) -> cst.CSTNode:
    """Where a site stands: a class or a function where its name does, not over all its lines."""
    assert isinstance(site, cst.CSTNode)
    return site.name if isinstance(site, (cst.ClassDef, cst.FunctionDef)) else site


def _finding(
    raw: RawFinding,
    spans: dict[cst.CSTNode, Span],
    far: dict[cst.CSTNode, Elsewhere],
    fix: Fix | str,
    source: SourceFile,
) -> Finding:
    rule, report = raw.rule, raw.report
    related = [(_node(site), message) for site, message in report.related]
    return Finding(
        rule.code,
        rule.name,
        report.severity or rule.severity,
        _with_lines(report.message, [site for site, _ in related], spans, far, source),
        spans[_node(report.site)],
        tuple(Related(spans[site], message) for site, message in related if site in spans),
        "" if report.anywhere else raw.worlds[0].description,
        report.certainty,
        fix if isinstance(fix, Fix) else None,
        tuple(replace(far[site], message=message) for site, message in related if site in far),
        fix if isinstance(fix, str) else "",
    )


def _with_lines(
    message: str,
    related: list[cst.CSTNode],
    spans: dict[cst.CSTNode, Span],
    far: dict[cst.CSTNode, Elsewhere],
    source: SourceFile,
) -> str:
    """Put the lines of related places where the message speaks of them."""
    for index, site in enumerate(related):
        if site in spans:
            line = source.location(spans[site].start).line_text
        elif site in far:
            line = f"{far[site].location.line_text} of {Path(far[site].path).name}"
        else:
            line = "?"
        message = message.replace(line_of(index), line)
    return message
