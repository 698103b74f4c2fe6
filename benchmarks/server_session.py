"""An editor that opens one file, types in it, and reads the clocks of the server meanwhile."""

from __future__ import annotations

import ast
import asyncio
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

START, OPENED, WHOLE, HINTS = "start", "first findings", "all findings", "hints"
"""Until the editor is answered; from there to what a file shows by itself, and to all of it."""
EDITS = ("comment", "code", "new line")
"""What is typed: behind a statement of a function, into one, and at the top."""
CHANGES = 5
"""So many places of each kind are typed at in a file."""
_BETWEEN_LOOKS, _IDLE = 0.3, 0.01
"""In seconds: a server is idle that has used less of the processor between two looks."""


def after(edit: str) -> str:
    """The step from a change to the findings."""
    return f"after a {edit}" if edit != "code" else "after code"


STEPS = (START, OPENED, WHOLE, *map(after, EDITS), HINTS)
_EVERYWHERE = lsp.Range(lsp.Position(0, 0), lsp.Position(100_000, 0))
_ASKS = lsp.ClientCapabilities(
    text_document=lsp.TextDocumentClientCapabilities(diagnostic=lsp.DiagnosticClientCapabilities()),
    workspace=lsp.WorkspaceClientCapabilities(
        diagnostics=lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
)
"""An editor that asks for findings, and asks again when there are others."""


class Time(NamedTuple):
    """How long a step took: on the clock, and of the server's processor time."""

    wall: float
    cpu: float


@dataclass
class Timing:
    """What one file took, by the steps."""

    path: Path
    lines: int
    steps: dict[str, list[Time]] = field(default_factory=dict)

    def note(self, step: str, since: Time, now: Time) -> None:
        """Take note of a step that has ended now."""
        passed = Time(now.wall - since.wall, now.cpu - since.cpu)
        self.steps.setdefault(step, []).append(passed)


class Change(NamedTuple):
    """A text that is typed somewhere."""

    at: lsp.Position
    text: str


def changes(text: str) -> Mapping[str, list[Change]]:
    """What is typed in a text, and where: all over it."""
    ends = [lsp.Position(line, column) for line, column in _spread(list(_statements(text)))]
    return {
        "comment": [Change(end, f"  # {number}") for number, end in enumerate(ends)],
        "code": [Change(end, f"; x{number} = {number}") for number, end in enumerate(ends)],
        "new line": [Change(lsp.Position(0, 0), "\n") for _ in range(CHANGES)],
    }


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Where the simple statements in functions end that stand on one line, without a comment."""
    lines = text.splitlines()
    functions = (
        one
        for one in ast.walk(ast.parse(text))
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
    )
    inner = {id(one): one for each in functions for one in ast.walk(each)}
    for one in inner.values():
        if isinstance(one, (ast.Assign, ast.AugAssign, ast.Return)):
            line = lines[one.lineno - 1].rstrip()
            if one.lineno == one.end_lineno and line.isascii() and len(line) == one.end_col_offset:
                yield one.lineno - 1, len(line)


def _spread(places: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Some of the places, from the first to the last."""
    ordered = sorted(set(places))
    for number in range(CHANGES) if ordered else ():
        yield ordered[len(ordered) * number // CHANGES]


class Editor:
    """Starts a server of one checkout of devicelint, and talks to it."""

    def __init__(self, checkout: Path) -> None:
        """Nothing is started yet."""
        self._checkout = checkout
        self._client = LanguageClient("benchmark", "1")
        for told in (lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lsp.WORKSPACE_DIAGNOSTIC_REFRESH):
            self._client.feature(told)(lambda _: None)

    async def timing(self, path: Path) -> Timing:
        """What a file takes with a server of its own."""
        text = path.read_text(encoding="utf-8")
        timing = Timing(path, text.count("\n") + 1)
        await self._start(timing)
        await self._type(timing, text)
        await self._client.shutdown_async(None)
        self._client.exit(None)
        await self._client.stop()  # type: ignore[no-untyped-call]
        return timing

    async def _start(self, timing: Timing) -> None:
        environment = {**os.environ, "PYTHONPATH": str(self._checkout)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        start = Time(time.perf_counter(), 0.0)
        command = (sys.executable, "-m", "devicelint", "server")
        await self._client.start_io(*command, cwd=self._checkout, env=environment)
        params = lsp.InitializeParams(
            capabilities=_ASKS,
            root_uri=timing.path.resolve().parent.as_uri(),
        )
        await self._client.initialize_async(params)
        timing.note(START, start, self._now())
        self._client.initialized(lsp.InitializedParams())

    async def _type(self, timing: Timing, text: str) -> None:
        uri = timing.path.resolve().as_uri()
        document = lsp.TextDocumentIdentifier(uri)
        start = self._now()
        item = lsp.TextDocumentItem(uri, "python", 1, text)
        self._client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        await self._findings(document)
        timing.note(OPENED, start, self._now())
        timing.note(WHOLE, start, await self._idle())
        version = 1
        for kind, some in changes(text).items():
            for one in some:
                version += 1
                start = self._now()
                self._change(uri, version, one)
                await self._findings(document)
                now = self._now()
                timing.note(after(kind), start, now)
                await self._client.text_document_inlay_hint_async(
                    lsp.InlayHintParams(document, _EVERYWHERE)
                )
                timing.note(HINTS, now, self._now())

    async def _idle(self) -> Time:
        """The moment when the server has done all that it wants to."""
        found = self._now()
        while True:
            await asyncio.sleep(_BETWEEN_LOOKS)
            now = self._now()
            if now.cpu - found.cpu < _IDLE:
                return found
            found = now

    async def _findings(self, document: lsp.TextDocumentIdentifier) -> None:
        await self._client.text_document_diagnostic_async(lsp.DocumentDiagnosticParams(document))

    def _change(self, uri: str, version: int, change: Change) -> None:
        document = lsp.VersionedTextDocumentIdentifier(version, uri)
        place = lsp.Range(change.at, change.at)
        made = lsp.TextDocumentContentChangePartial(place, change.text)
        self._client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [made]))

    def _now(self) -> Time:
        server = self._client._server
        assert server is not None
        return Time(time.perf_counter(), processor_time(server.pid))


def processor_time(pid: int) -> float:
    """The processor time of another process, in seconds; what Linux calls the clock of that."""
    return time.clock_gettime(((~pid) << 3) | 2)
