"""Only what is true of the newest version is told, and each version is checked once."""

from __future__ import annotations

import asyncio
import threading

from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.lines import Lines
from devicelint.server.open_documents import OpenFile, Part
from devicelint.server.session import Session
from devicelint.views.abandoned import Abandoned

URI = "file:///train.py"


def page(version: int, text: str = "x = 1\n") -> OpenFile:
    return OpenFile(URI, "/train.py", Part(URI, version, Lines(text)))


class Slow:
    """A worker that waits to be let on."""

    def __init__(self) -> None:
        self.asked: list[int | None] = []
        self.begun = threading.Semaphore(0)
        self.let_on = threading.Semaphore(0)

    def analyse(self, page, before, is_abandoned):
        self.asked.append(page.part.version)
        self.begun.release()
        assert self.let_on.acquire(timeout=30)
        if is_abandoned():
            raise Abandoned
        return DocumentAnalysis(page)


def session() -> tuple[Session, Slow, list[int | None]]:
    told: list[int | None] = []
    made = Session(lambda analysis, _: told.append(next(analysis.document.parts()).version))
    slow = Slow()
    made.worker = slow  # type: ignore[assignment]
    return made, slow, told


async def begun(slow: Slow) -> None:
    assert await asyncio.to_thread(slow.begun.acquire, timeout=30)


def test_a_version_is_checked_once_whoever_asks():
    async def ask() -> None:
        made, slow, told = session()
        made.put(page(1))
        made.check_soon(URI)
        asked = [asyncio.ensure_future(made.analysis_of(URI)) for _ in range(3)]
        await begun(slow)
        slow.let_on.release()
        found = await asyncio.gather(*asked)
        assert len({id(one) for one in found}) == 1
        assert (slow.asked, told) == ([1], [1])
        made.close()

    asyncio.run(ask())


def test_what_is_found_in_an_old_version_is_dropped():
    async def ask() -> None:
        made, slow, told = session()
        made.put(page(1))
        asked = asyncio.ensure_future(made.analysis_of(URI))
        await begun(slow)
        made.put(page(2))
        slow.let_on.release(2)
        found = await asked
        assert found is not None
        assert found.document is made.documents[URI]
        assert (slow.asked, told) == ([1, 2], [2])
        made.close()

    asyncio.run(ask())


def test_what_is_being_found_out_by_old_settings_is_not_taken_for_the_new():
    async def ask() -> None:
        made, slow, _ = session()
        made.put(page(1))
        first = asyncio.ensure_future(made.analysis_of(URI))
        await begun(slow)
        made.check_all_again()
        second = asyncio.ensure_future(made.analysis_of(URI))
        await asyncio.sleep(0)
        slow.let_on.release(3)
        await asyncio.gather(first, second)
        assert slow.asked == [1, 1]
        made.close()

    asyncio.run(ask())


def test_nothing_is_known_of_what_is_closed():
    async def ask() -> None:
        made, slow, told = session()
        slow.release = lambda path: None  # type: ignore[attr-defined]
        made.put(page(1))
        asked = asyncio.ensure_future(made.analysis_of(URI))
        await begun(slow)
        made.remove(URI)
        slow.let_on.release()
        assert await asked is None
        assert told == []
        made.close()

    asyncio.run(ask())
