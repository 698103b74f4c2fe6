"""What the rules say while a program is walked, gathered and turned into findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import libcst as cst

from devicelint.domain.events import Event
from devicelint.domain.worlds import World
from devicelint.finding import Certainty, Elsewhere, Finding, Fix, Related, Span
from devicelint.fixes import Rewrite, resolve
from devicelint.fixes import sites as sites_of
from devicelint.interpreter.program import Program
from devicelint.interpreter.run import Listener, Run
from devicelint.interpreter.scene import Scene
from devicelint.positions import locate
from devicelint.rules import Report, Reports, Rule, line_of
from devicelint.source import SourceFile

FAR = "its fix belongs in another file"
NOT_WRITABLE = "its fix cannot be written at that place"


@dataclass(frozen=True)
class Said:
    """A report, the rule that made it, and the worlds in which it did."""

    rule: Rule
    report: Report
    worlds: tuple[World, ...]


class Gathering:
    """Lets every rule hear every event, and keeps what they say, once for each mistake."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._handlers = _handlers(rules)
        self._walks: list[tuple[World, list[tuple[Rule, Report]]]] = []

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; what an abandoned walk of the same world said is dropped."""
        said: list[tuple[Rule, Report]] = []
        handlers = self._handlers
        self._walks = [walk for walk in self._walks if walk[0] != parent_of(world)]
        self._walks.append((world, said))

        def hear(event: Event, run: Run) -> None:
            listening = handlers.get(type(event).__name__)
            if listening is None:
                return
            scene = Scene(run)
            for rule, handle in listening:
                said.extend(
                    (rule, report)
                    for report in handle(event, scene)
                    if not (world.is_set_to_the_cpu and report.certainty is Certainty.CONTRACT)
                )

        return hear

    def reports(self) -> list[Said]:
        """What was said, one for each rule and subject, with the worlds in which it holds."""
        merged: dict[tuple[str, object], Said] = {}
        for world, said in self._walks:
            for rule, report in said:
                key = (rule.code, report.subject if report.subject is not None else report.site)
                before = merged.get(key)
                if before is None:
                    merged[key] = Said(rule, report, (world,))
                elif world not in before.worlds:
                    merged[key] = Said(rule, before.report, (*before.worlds, world))
        return list(_told_once(merged.values()))


def _told_once(said: Iterable[Said]) -> Iterable[Said]:
    """What a function's callers give it may lead to the same words by another way."""
    told: dict[tuple[str, object, str], Said] = {}
    for one in said:
        key = (one.rule.code, one.report.site, one.report.message)
        before = told.get(key)
        worlds = one.worlds if before is None else (*before.worlds, *one.worlds)
        told[key] = replace(before or one, worlds=tuple(dict.fromkeys(worlds)))
    return told.values()


def parent_of(world: World) -> World | None:
    """The world whose walk was given up for this one and its twin."""
    if not world.settings:
        return None
    return World(world.accelerators, world.settings[:-1])


def _handlers(
    rules: tuple[Rule, ...],
) -> dict[str, list[tuple[Rule, Callable[..., Reports]]]]:
    """For each event, the rules that hear it."""
    handlers: dict[str, list[tuple[Rule, Callable[..., Reports]]]] = {}
    for rule in rules:
        for method in methods_of(type(rule)):
            handlers.setdefault(event_of(method), []).append((rule, getattr(rule, method)))
    return handlers


_METHODS: dict[type[Rule], tuple[str, ...]] = {}


def methods_of(rule: type[Rule]) -> tuple[str, ...]:
    """The methods of a rule that hear events; looked up once."""
    methods = _METHODS.get(rule)
    if methods is None:
        methods = _METHODS[rule] = tuple(name for name in dir(rule) if name.startswith("on_"))
    return methods


@cache
def event_of(method: str) -> str:
    """The event that a method hears: `MixedOperation` for `on_mixed_operation`."""
    return "".join(part.capitalize() for part in method.removeprefix("on_").split("_"))


def located(
    source: SourceFile, module: cst.Module, said: list[Said], imported: Iterable[Program] = ()
) -> list[Finding]:
    """What was said, as findings at places of the text, in their order.

    Some of what explains them may stand in the files that were imported.
    """
    sites: list[cst.CSTNode] = []
    for one in said:
        sites.append(_node(one.report.site))
        sites.extend(_node(site) for site, _ in one.report.related)
    rewrites = [one.report.fix for one in said if one.report.fix is not None]
    sites.extend(sites_of(rewrites, module))
    spans = locate(module, source, sites)
    said = [one for one in said if _node(one.report.site) in spans]
    far = located_elsewhere([site for site in sites if site not in spans], imported)
    fixes = _resolved(source, module, said, spans)
    found = [_finding(one, spans, far, fix, source) for one, fix in zip(said, fixes, strict=True)]
    return sorted(found, key=lambda finding: (finding.span, finding.code))


def located_elsewhere(
    sites: list[cst.CSTNode], imported: Iterable[Program]
) -> dict[cst.CSTNode, Elsewhere]:
    """Where those places stand that are in other files."""
    found: dict[cst.CSTNode, Elsewhere] = {}
    for program in imported:
        if len(found) == len(set(sites)):
            break
        source, shown = SourceFile(program.text), _from_here(program.path)
        for site, span in locate(program.tree, source, sites).items():
            found[site] = Elsewhere(shown, *source.position(span.start), "")
    return found


def _from_here(path: str) -> str:
    """A path as people would write it: from the current folder, where it lies in that."""
    there, here = Path(path), Path.cwd()
    return str(there.relative_to(here) if there.is_relative_to(here) else there)


def _node(site: object) -> cst.CSTNode:
    assert isinstance(site, cst.CSTNode)
    return site


def _resolved(
    source: SourceFile, module: cst.Module, said: list[Said], spans: dict[cst.CSTNode, Span]
) -> list[Fix | str]:
    """The fix of each report, or why it has none."""
    rewrites = [_within(one.report.fix, module, spans) for one in said]
    resolved = resolve([one for one in rewrites if one is not None], module, source, spans)
    waiting = iter(resolved)
    fixes: list[Fix | str] = []
    for one, rewrite in zip(said, rewrites, strict=True):
        if rewrite is not None:
            fixes.append(next(waiting) or NOT_WRITABLE)
        else:
            fixes.append("" if one.report.fix is None else FAR)
    return fixes


def _within(
    rewrite: Rewrite | None, module: cst.Module, spans: dict[cst.CSTNode, Span]
) -> Rewrite | None:
    """A rewrite of this file; one that would change another file is none."""
    if rewrite is None or any(site not in spans for site in sites_of([rewrite], module)):
        return None
    return rewrite


def _finding(
    said: Said,
    spans: dict[cst.CSTNode, Span],
    far: dict[cst.CSTNode, Elsewhere],
    fix: Fix | str,
    source: SourceFile,
) -> Finding:
    rule, report = said.rule, said.report
    related = [(_node(site), message) for site, message in report.related]
    return Finding(
        rule.code,
        rule.name,
        report.severity or rule.severity,
        _with_lines(report.message, [site for site, _ in related], spans, far, source),
        spans[_node(report.site)],
        tuple(Related(spans[site], message) for site, message in related if site in spans),
        "" if report.anywhere else said.worlds[0].description,
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
            line = str(source.position(spans[site].start).line)
        elif site in far:
            line = f"{far[site].line} of {Path(far[site].path).name}"
        else:
            line = "?"
        message = message.replace(line_of(index), line)
    return message
