"""Only what is true of the newest version is told, and each version is checked once."""

from __future__ import annotations

import asyncio
import threading

import pytest

from devicelint.finding import Elsewhere, Finding, Severity, Span
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


MODEL = "file:///model.py"


def model(version: int) -> OpenFile:
    return OpenFile(MODEL, "/model.py", Part(MODEL, version, Lines("y = 1\n")))


class Importing:
    """A worker that checks a program which imports a file, and may show a place of it."""

    def __init__(self, *, is_same_code: bool, shows: str) -> None:
        place = Elsewhere(shows, 1, 0, "created here")
        found = Finding(
            "DEV101", "a-rule", Severity.ERROR, "wrong", Span(0, 1), (), "", elsewhere=(place,)
        )
        self.checked: list[str] = []
        self._found = {URI: (found,), MODEL: ()}
        self._is_same_code = is_same_code

    def analyse(self, document, before, is_abandoned):
        self.checked.append(document.uri)
        return DocumentAnalysis(
            document,
            self._found[document.uri],
            reached=frozenset({"/model.py"}) if document.uri == URI else frozenset(),
            is_same_code=self._is_same_code and before is not None,
        )


@pytest.mark.parametrize(
    ("is_same_code", "shows", "wanted"),
    [
        (False, "/other.py", [URI]),
        (True, "/other.py", []),
        (True, "/model.py", [URI]),
    ],
)
def test_those_that_import_a_file_are_checked_again_where_they_may_show_another_thing(
    is_same_code, shows, wanted
):
    async def ask() -> None:
        made = Session(lambda *_: None)
        worker = Importing(is_same_code=is_same_code, shows=shows)
        made.worker = worker  # type: ignore[assignment]
        for document in (model(1), page(1)):
            made.put(document)
            await made.analysis_of(document.uri)
        await made.analysis_of(URI)
        worker.checked.clear()
        made.put(model(2))
        await made.analysis_of(MODEL)
        await made.analysis_of(URI)
        assert worker.checked == [MODEL, *wanted]
        made.close()

    asyncio.run(ask())
