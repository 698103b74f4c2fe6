"""How long an editor waits for what it shows, while somebody types in a script of 500 lines.

A real client talks to `devicelint server` over its standard streams.  It types a character in one
line after another, all over the file, and after each asks for the findings, and then for the
devices to be shown beside the code; the clock runs from the change to the answer.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from benchmarks.promised import all_kept

LINES = 500
FILES = 5
CHANGES = 20
MOST = 0.100
"""In seconds."""


@dataclass(frozen=True)
class Timing:
    """What one file took."""

    name: str
    lines: int
    opened: float
    findings: list[float]
    hints: list[float]

    def row(self) -> str:
        """One line of the table, in milliseconds."""
        found, shown = (1000 * statistics.median(one) for one in (self.findings, self.hints))
        slowest = 1000 * max(self.findings)
        times = f"{1000 * self.opened:>7.0f} {found:>9.0f} {slowest:>8.0f} {shown:>6.0f}"
        return f"{self.name:<58} {self.lines:>5} {times}"


HEADER = f"{'milliseconds, median of changes':<58} lines    open  findings  slowest  hints"


def scripts(folder: Path) -> list[Path]:
    """The files about torch that come nearest to 500 lines."""
    found = [
        (abs(text.count("\n") + 1 - LINES), path)
        for path in sorted(folder.rglob("*.py"))
        if "torch" in (text := path.read_text(encoding="utf-8", errors="replace"))
    ]
    return [path for _, path in sorted(found)[:FILES]]


def typed(text: str) -> Iterator[lsp.Position]:
    """Ends of lines of code all over a text."""
    lines = text.splitlines()
    for number in range(CHANGES):
        line = len(lines) * number // CHANGES
        while line < len(lines) - 1 and not lines[line].strip().isidentifier():
            if "=" in lines[line] and not lines[line].rstrip().endswith(("(", ",", "\\", ":")):
                break
            line += 1
        yield lsp.Position(line, len(lines[line]))


async def timed(client: LanguageClient, path: Path, folder: Path) -> Timing:
    """Open a file, and type in it."""
    text, uri = path.read_text(encoding="utf-8"), path.resolve().as_uri()
    document = lsp.TextDocumentIdentifier(uri)
    everywhere = lsp.Range(lsp.Position(0, 0), lsp.Position(100_000, 0))
    start = time.perf_counter()
    item = lsp.TextDocumentItem(uri, "python", 1, text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    asked = lsp.DocumentDiagnosticParams(document)
    await client.text_document_diagnostic_async(asked)
    opened = time.perf_counter() - start
    findings, hints = [], []
    for version, position in enumerate(typed(text), start=2):
        change = lsp.TextDocumentContentChangePartial(lsp.Range(position, position), "  # x")
        start = time.perf_counter()
        client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(version, uri), [change]
            )
        )
        await client.text_document_diagnostic_async(asked)
        findings.append(time.perf_counter() - start)
        await client.text_document_inlay_hint_async(lsp.InlayHintParams(document, everywhere))
        hints.append(time.perf_counter() - start - findings[-1])
    client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
    name = str(path.relative_to(folder))
    return Timing(name, text.count("\n") + 1, opened, findings, hints)


async def measured(folder: Path, paths: list[Path]) -> list[Timing]:
    """What the files take, one after the other, with one server."""
    client = LanguageClient("benchmark", "1")
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda _: None)
    await client.start_io(sys.executable, "-m", "devicelint", "server")
    pulls = lsp.TextDocumentClientCapabilities(diagnostic=lsp.DiagnosticClientCapabilities())
    await client.initialize_async(
        lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(text_document=pulls),
            root_uri=folder.resolve().as_uri(),
        )
    )
    client.initialized(lsp.InitializedParams())
    timings = [await timed(client, path, folder) for path in paths]
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]
    return timings


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether the promise is kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", type=Path, help="a folder of scripts, such as pytorch/examples")
    folder = parser.parse_args(words).corpus
    paths = scripts(folder)
    if not paths:
        print(f"{folder}: holds no script about torch", file=sys.stderr)
        return 2
    timings = asyncio.run(measured(folder, paths))
    print(HEADER)
    for timing in timings:
        print(timing.row())
    typical = statistics.median(statistics.median(one.findings) for one in timings)
    label = f"the findings of a script of {LINES} lines are there after {1000 * MOST:.0f} ms"
    return 0 if all_kept([(typical <= MOST, f"{label}: {1000 * typical:.0f} ms")]) else 1


if __name__ == "__main__":
    sys.exit(main())
