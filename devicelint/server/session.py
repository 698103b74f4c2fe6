"""What is open, and what is known of it: the newest version counts, older results are dropped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from devicelint.server import garbage
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.open_documents import OpenDocument
from devicelint.server.worker import Worker
from devicelint.views.abandoned import Abandoned
from devicelint.views.deep_thread import deep_thread

_Result = TypeVar("_Result")


class Session:
    """The open documents, and the worker that checks them; all but its part is on the loop."""

    def __init__(self, on_analysis: Callable[[DocumentAnalysis, bool], None]) -> None:
        """Report each analysis of a document, and whether another document made it necessary."""
        self.worker = Worker()
        self.documents: dict[str, OpenDocument] = {}
        self._on_analysis = on_analysis
        self._known: dict[str, DocumentAnalysis] = {}
        """What is known of documents as they are now."""
        self._last: dict[str, DocumentAnalysis] = {}
        """What was known of them last."""
        self._running: dict[str, tuple[OpenDocument, asyncio.Task[None]]] = {}
        self._finishing: dict[str, asyncio.Task[None]] = {}
        """What asks the programs around documents, which takes longer than anybody waits."""
        self._waited_for = 0
        """How many questions to the worker somebody waits for."""
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._changed: set[str] = set()
        self._recoded: set[str] = set()
        """The documents whose code has changed since those that import them were checked."""
        self._outdated: set[str] = set()
        """The documents that import one which has changed."""
        self._thread = deep_thread()

    def prepare(self) -> None:
        """Make ready to check, without anybody waiting for it."""
        self._thread.submit(self.worker.prepare)

    def put(self, document: OpenDocument) -> None:
        """Take a new version of a document, or a new document."""
        self.documents[document.uri] = document
        self._forget(document.uri)
        self._changed.add(document.uri)

    def remove(self, uri: str) -> None:
        """A document is closed: what is on the disk counts again."""
        document = self.documents.pop(uri, None)
        for table in (self._known, self._last):
            table.pop(uri, None)
        self._running.pop(uri, None)
        self._finishing.pop(uri, None)
        if timer := self._waiting.pop(uri, None):
            timer.cancel()
        if document is not None:
            self._thread.submit(self.worker.release, document.path)
            self._outdate(document)

    def check_soon(self, uri: str, delay: float = 0.0) -> None:
        """Check a document once nothing has changed in it for so many seconds."""
        if timer := self._waiting.pop(uri, None):
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._waiting[uri] = loop.call_later(delay, self._check, uri)

    def check_all_again(self) -> None:
        """Check every document, whatever is known of it or about to be."""
        for uri in self.documents:
            self._forget(uri)
            self.check_soon(uri)

    async def analysis_of(self, uri: str) -> DocumentAnalysis | None:
        """What is known of a document as it is now; None once it is closed."""
        while (document := self.documents.get(uri)) is not None:
            known = self._known.get(uri)
            if known is not None and known.document is document:
                return known
            running = self._running.get(uri)
            if running is None or running[0] is not document or running[1].done():
                running = document, asyncio.ensure_future(self._analyse(document))
                self._running[uri] = running
            await asyncio.shield(running[1])
        return None

    async def whole_analysis_of(self, uri: str) -> DocumentAnalysis | None:
        """The same, with what programs around make go wrong in the document."""
        while (analysis := await self.analysis_of(uri)) is not None:
            finishing = self._finishing.get(uri)
            if analysis.unfinished is None or finishing is None or finishing.done():
                return analysis
            await asyncio.shield(finishing)
        return None

    async def ask(self, question: Callable[..., _Result], *given: object) -> _Result:
        """Let the worker do something, after what it has to do before."""
        loop = asyncio.get_running_loop()
        self._waited_for += 1
        try:
            return await loop.run_in_executor(self._thread, partial(question, *given))
        finally:
            self._waited_for -= 1

    def _forget(self, uri: str) -> None:
        """What is known of a document, or is being found out, is not true any more."""
        self._known.pop(uri, None)
        self._running.pop(uri, None)

    def close(self) -> None:
        """Nothing is to be checked any more."""
        self.documents.clear()
        self._known.clear()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _check(self, uri: str) -> None:
        self._waiting.pop(uri, None)
        task = asyncio.ensure_future(self.analysis_of(uri))
        task.add_done_callback(_ignore_error)

    async def _analyse(self, document: OpenDocument) -> None:
        last = self._last.get(document.uri)
        is_abandoned = partial(self._is_abandoned, document)
        try:
            analysis = await self.ask(self.worker.analyse, document, last, is_abandoned)
        except Abandoned:
            return
        self._thread.submit(garbage.collect)
        if document.uri in self.documents:
            self._last[document.uri] = analysis
        if not analysis.is_same_code:
            self._recoded.add(document.uri)
        if is_abandoned():
            return
        self._note(analysis, of_another=document.uri in self._outdated)
        self._outdated.discard(document.uri)
        self.finish(document.uri)
        if document.uri in self._changed:
            self._changed.discard(document.uri)
            self._outdate(document)

    def finish(self, uri: str) -> None:
        """Ask the programs around a document that is saved, where that has not been done."""
        analysis = self._known.get(uri)
        if analysis is not None and analysis.unfinished is not None:
            self._finishing[uri] = asyncio.ensure_future(self._finish(analysis))

    async def _finish(self, analysis: DocumentAnalysis) -> None:
        """Ask the programs around a document, whenever nobody wants anything else."""
        is_abandoned = partial(self._is_known_no_more, analysis)
        loop = asyncio.get_running_loop()
        while not is_abandoned():
            try:
                finished = await loop.run_in_executor(
                    self._thread,
                    self.worker.finish,
                    analysis,
                    lambda: bool(self._waited_for) or is_abandoned(),
                )
            except Abandoned:
                continue  # Whoever was waiting comes first.
            self._thread.submit(garbage.collect)
            if finished is not analysis and not is_abandoned():
                news = finished.findings != analysis.findings or finished.problem is not None
                self._note(finished, of_another=True, is_shown=news)
            return

    def _note(self, analysis: DocumentAnalysis, *, of_another: bool, is_shown: bool = True) -> None:
        uri = analysis.document.uri
        self._known[uri] = self._last[uri] = analysis
        if is_shown:
            self._on_analysis(analysis, of_another)

    def _is_abandoned(self, document: OpenDocument) -> bool:
        return self.documents.get(document.uri) is not document

    def _is_known_no_more(self, analysis: DocumentAnalysis) -> bool:
        return self._known.get(analysis.document.uri) is not analysis

    def _outdate(self, document: OpenDocument) -> None:
        """Check those again that import a document which has changed."""
        home, analyses = os.path.abspath(document.path), [*self._last.values()]
        if document.uri in self.documents and document.uri not in self._recoded:
            analyses = [one for one in analyses if one.mentions(home)]
        self._recoded.discard(document.uri)
        for uri in dependent_on(home, analyses):
            if uri != document.uri and uri in self.documents:
                self._forget(uri)
                self._outdated.add(uri)
                self.check_soon(uri)


def dependent_on(home: str, analyses: Iterable[DocumentAnalysis]) -> list[str]:
    """The documents that import a file, as far as was seen."""
    return [one.document.uri for one in analyses if home in one.reached]


def _ignore_error(task: asyncio.Task[DocumentAnalysis | None]) -> None:
    """An error is reported where it occurs."""
    if not task.cancelled():
        task.exception()
