"""What devicelint says of a file, on the machine on which it was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst

from benchmarks.agreement.claims.values import Claim
from benchmarks.agreement.claims.walking import Claiming, FrameClaims, WorldClaims
from benchmarks.agreement.recording.places import Span
from benchmarks.checking import LIMIT, TookTooLong, limited
from devicelint.config import Config
from devicelint.domain.worlds import World
from devicelint.finding import InputError
from devicelint.interpreter import explore
from devicelint.interpreter.engine.budget import BudgetExceeded
from devicelint.interpreter.engine.nodes import descendants
from devicelint.linter.program import program_of
from devicelint.text.positions import locate, written
from devicelint.text.source import SourceFile
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project

WalkClaims = Mapping[Span, frozenset[Claim]]
"""What one walk through a function says of its expressions."""


@dataclass(frozen=True)
class FileClaims:
    """What is said of one file.

    Attributes:
        walks: what each walk through a function, or through the file, says; equal ones once.
        owned: by the qualified name of a class, what its attributes are taken for.
        lines: the lines of what put values where they are said to be.
        functions: the functions of the file, and whether any walk enters them.
        given_up: why nothing is said, where nothing is.
    """

    walks: tuple[WalkClaims, ...] = ()
    owned: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    lines: Mapping[object, int] = field(default_factory=dict)
    functions: Mapping[Span, bool] = field(default_factory=dict)
    given_up: str = ""

    def is_entered(self, span: Span) -> bool:
        """Whether a walk enters the function around an expression; the file itself is entered."""
        around = [one for one in self.functions if one[:2] <= span[:2] and span[2:] <= one[2:]]
        return self.functions[max(around)] if around else True

    def history(self, claim: Claim) -> str:
        """How a value came to be where it is said to be."""
        if claim.since is None:
            return ""
        line = self.lines.get(claim.since.site)
        return f"{claim.since}, line {line}" if line is not None else f"{claim.since}, elsewhere"

    def places(self) -> dict[Span, frozenset[Claim]]:
        """All that is said of each expression, by any walk."""
        found: dict[Span, set[Claim]] = {}
        for walk in self.walks:
            for span, claims in walk.items():
                found.setdefault(span, set()).update(claims)
        return {span: frozenset(claims) for span, claims in found.items()}


def claims_of_file(path: Path, project: Project, accelerators: int) -> FileClaims:
    """Walk through a file as a check of it does, and keep what holds with so many accelerators."""
    claiming = Claiming()
    try:
        with limited(LIMIT):
            source = read_source(path)
            program = program_of(source, project, Config())
            walks = explore(program, claiming.listener_for, claiming.walker)
    except (BudgetExceeded, RecursionError, TookTooLong):
        return FileClaims(given_up="it takes too much")
    except InputError:
        return FileClaims(given_up="it cannot be read")
    worlds = of_machine([walk.world for walk in walks], accelerators)
    notes = [claiming.worlds[world] for world in worlds]
    return located(source, program.tree, notes)


def located(source: SourceFile, tree: cst.Module, notes: list[WorldClaims]) -> FileClaims:
    """What walks say of the nodes of a tree, at their places in the text."""
    return _Located(source, tree, notes).claims()


def of_machine(worlds: Iterable[World], accelerators: int) -> list[World]:
    """The worlds of this machine; those with an accelerator stand for any number of them."""
    every = list(dict.fromkeys(worlds))
    exact = [one for one in every if one.accelerators == accelerators]
    return exact or [one for one in every if (one.accelerators > 0) is (accelerators > 0)] or every


class _Located:
    """Claims at nodes, brought to places in the text."""

    def __init__(self, source: SourceFile, tree: cst.Module, notes: list[WorldClaims]) -> None:
        self._source = source
        self._tree = tree
        self._notes = notes
        frames = [frame for one in notes for frame in one.frames.values()]
        self._entered = {frame.node for one in notes for frame in one.frames}
        self._functions = [one for one in descendants(tree) if isinstance(one, cst.FunctionDef)]
        sites: set[cst.CSTNode] = {node for frame in frames for node in frame}
        steps = {one.since for frame in frames for claims in frame.values() for one in claims}
        self._causes = {one.site for one in steps if one and isinstance(one.site, cst.CSTNode)}
        self._spans = locate(tree, source, sites | self._causes | set(self._functions))
        self._frames = frames
        self._known: dict[cst.CSTNode, Span] = {}

    def claims(self) -> FileClaims:
        walks = {frozenset(walk.items()): walk for walk in map(self._walk, self._frames)}
        begins = {site: self._spans[site].start for site in self._causes if site in self._spans}
        lines: dict[object, int] = {
            site: self._source.position(begin).line for site, begin in begins.items()
        }
        functions = {self._span(one): one in self._entered for one in self._functions}
        return FileClaims(tuple(walks.values()), self._owned(), lines, functions)

    def _walk(self, frame: FrameClaims) -> dict[Span, frozenset[Claim]]:
        found: dict[Span, frozenset[Claim]] = {}
        for node, claims in frame.items():
            if node in self._spans:
                span = self._span(node)
                found[span] = found.get(span, frozenset()) | frozenset(claims)
        return found

    def _span(self, node: cst.CSTNode) -> Span:
        """Where an expression stands, without its own parentheses, as Python says it."""
        known = self._known.get(node)
        if known is not None:
            return known
        whole = self._spans[node]
        before = sum(len(written(self._tree, one)) for one in getattr(node, "lpar", ()))
        after = sum(len(written(self._tree, one)) for one in getattr(node, "rpar", ()))
        begin = self._source.position(whole.start + before)
        end = self._source.position(whole.end - after)
        self._known[node] = Span(begin.line, begin.column, end.line, end.column)
        return self._known[node]

    def _owned(self) -> dict[str, dict[str, frozenset[str]]]:
        names = _qualified_names(self._tree)
        found: dict[str, dict[str, set[str]]] = {}
        for notes in self._notes:
            for node, owned in notes.owned.items():
                kept = found.setdefault(names.get(node, ""), {})
                for name, kinds in owned.items():
                    kept.setdefault(name, set()).update(kinds)
        return {
            name: {attribute: frozenset(kinds) for attribute, kinds in owned.items()}
            for name, owned in found.items()
        }


def _qualified_names(tree: cst.Module) -> dict[cst.CSTNode, str]:
    """The `__qualname__` of each class of a file."""
    found: dict[cst.CSTNode, str] = {}
    waiting: list[tuple[cst.CSTNode, str]] = [(tree, "")]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, cst.ClassDef):
            found[node] = inside + node.name.value
            inside = f"{found[node]}."
        elif isinstance(node, cst.FunctionDef):
            inside = f"{inside}{node.name.value}.<locals>."
        waiting.extend((child, inside) for child in node.children)
    return found
