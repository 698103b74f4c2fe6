"""What is open, and what is known of it: the newest version counts, older results are dropped."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from devicelint.server.analysis import Analysis
from devicelint.server.open_documents import Page
from devicelint.server.worker import Analyst
from devicelint.views.editor import Abandoned

_Result = TypeVar("_Result")

_STACK = 64 * 2**20
"""In bytes: what parses deeply nested code needs more than some systems give a thread."""


class Desk:
    """The pages, and the one worker that checks them; all but the worker's part is on the loop."""

    def __init__(self, on_analysis: Callable[[Analysis, bool], None]) -> None:
        """Report each analysis of a page, and whether another page made it necessary."""
        self.analyst = Analyst()
        self.pages: dict[str, Page] = {}
        self._on_analysis = on_analysis
        self._known: dict[str, Analysis] = {}
        """What is known of pages as they are now."""
        self._last: dict[str, Analysis] = {}
        """What was known of them last."""
        self._running: dict[str, tuple[Page, asyncio.Task[None]]] = {}
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._changed: set[str] = set()
        self._outdated: set[str] = set()
        """The pages that import one which has changed."""
        before = threading.stack_size(_STACK)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="analyst")
        self._worker.submit(int)  # The thread is started now, with that stack.
        threading.stack_size(before)

    def put(self, page: Page) -> None:
        """Take a new version of a page, or a new page."""
        self.pages[page.uri] = page
        self._forget(page.uri)
        self._changed.add(page.uri)

    def remove(self, uri: str) -> None:
        """A page is closed: what is on the disk counts again."""
        page = self.pages.pop(uri, None)
        for table in (self._known, self._last):
            table.pop(uri, None)
        self._running.pop(uri, None)
        if timer := self._waiting.pop(uri, None):
            timer.cancel()
        if page is not None:
            self._worker.submit(self.analyst.release, page.path)
            self._outdate(page)

    def check_soon(self, uri: str, delay: float = 0.0) -> None:
        """Check a page once nothing has changed in it for so many seconds."""
        if timer := self._waiting.pop(uri, None):
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._waiting[uri] = loop.call_later(delay, self._check, uri)

    def check_all_again(self) -> None:
        """Check every page, whatever is known of it or about to be."""
        for uri in self.pages:
            self._forget(uri)
            self.check_soon(uri)

    async def analysis_of(self, uri: str) -> Analysis | None:
        """What is known of a page as it is now; None once it is closed."""
        while (page := self.pages.get(uri)) is not None:
            known = self._known.get(uri)
            if known is not None and known.page is page:
                return known
            running = self._running.get(uri)
            if running is None or running[0] is not page or running[1].done():
                running = page, asyncio.ensure_future(self._analyse(page))
                self._running[uri] = running
            await asyncio.shield(running[1])
        return None

    async def ask(self, question: Callable[..., _Result], *given: object) -> _Result:
        """Let the worker do something, after what it has to do before."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, partial(question, *given))

    def _forget(self, uri: str) -> None:
        """What is known of a page, or is being found out, is not true any more."""
        self._known.pop(uri, None)
        self._running.pop(uri, None)

    def close(self) -> None:
        """Nothing is to be checked any more."""
        self.pages.clear()
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _check(self, uri: str) -> None:
        self._waiting.pop(uri, None)
        task = asyncio.ensure_future(self.analysis_of(uri))
        task.add_done_callback(_ignore_error)

    async def _analyse(self, page: Page) -> None:
        def is_abandoned() -> bool:
            return self.pages.get(page.uri) is not page

        last = self._last.get(page.uri)
        try:
            analysis = await self.ask(self.analyst.analyse, page, last, is_abandoned)
        except Abandoned:
            return
        if is_abandoned():
            return
        self._known[page.uri] = self._last[page.uri] = analysis
        self._on_analysis(analysis, page.uri in self._outdated)
        self._outdated.discard(page.uri)
        if page.uri in self._changed:
            self._changed.discard(page.uri)
            self._outdate(page)

    def _outdate(self, page: Page) -> None:
        """Check those again that import a page which has changed."""
        home = os.path.abspath(page.path)
        for uri in dependent_on(home, self._last.values()):
            if uri != page.uri and uri in self.pages:
                self._forget(uri)
                self._outdated.add(uri)
                self.check_soon(uri)


def dependent_on(home: str, analyses: Iterable[Analysis]) -> list[str]:
    """The pages that import a file, as far as was seen."""
    return [one.page.uri for one in analyses if home in one.reached]


def _ignore_error(task: asyncio.Task[Analysis | None]) -> None:
    """An error is reported where it occurs."""
    if not task.cancelled():
        task.exception()
