"""What a file shows by itself is there first; what programs make go wrong in it follows."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from devicelint.config import Config
from devicelint.finding import Certainty, Finding, Severity, Span
from devicelint.interpreter.engine.budget import Budget, Interrupted, interrupted_when
from devicelint.linter import lint
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.checker import Checker
from devicelint.server.lines import Lines
from devicelint.server.open_documents import OpenFile, Part
from devicelint.server.session import Session
from devicelint.views.abandoned import Abandoned
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project
from tests.server.editor import Editor
from tests.tagger import MODEL, write_tagger


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A file that a program leads to."""
    return write_tagger(tmp_path)


def opened(path: Path, text: str = "", version: int = 1) -> OpenFile:
    uri = path.as_uri()
    return OpenFile(uri, str(path), Part(uri, version, Lines(text or path.read_text())))


def always(_: object = None) -> bool:
    return True


def never() -> bool:
    return False


def test_what_a_check_finds_is_there_in_the_end(model):
    checker, wanted = Checker(), lint.check(read_source(model), Config(), Project()).findings
    own = checker.analyse(opened(model), Config(), never)
    assert [one.code for one in wanted] == ["DEV103"]
    assert own.findings == ()
    finished = checker.finish(own, never)
    assert finished.findings == wanted
    assert finished.unfinished is None


def test_programs_are_asked_about_what_is_saved(model):
    checker = Checker()
    changed = checker.analyse(opened(model, MODEL + "x = 1\n"), Config(), never)
    assert checker.finish(changed, never) is changed
    model.write_text(MODEL + "x = 1\n")
    assert [one.code for one in checker.finish(changed, never).findings] == ["DEV103"]


def test_a_walk_that_nobody_wants_is_given_up_and_made_again(model, monkeypatch):
    monkeypatch.setattr("devicelint.interpreter.engine.budget._STEPS_BETWEEN_LOOKS", 1)
    checker = Checker()
    own = checker.analyse(opened(model), Config(), never)
    with pytest.raises(Abandoned):
        checker.finish(own, always)
    assert [one.code for one in checker.finish(own, never).findings] == ["DEV103"]


def test_a_budget_looks_whether_the_walk_is_wanted():
    budget = Budget(100)
    with interrupted_when(always), pytest.raises(Interrupted):
        budget.look(1)
    with interrupted_when(never):
        assert budget.look(1) == 101
    assert budget.look(1) == 101


def test_an_editor_is_shown_both(model):
    editor = Editor(model.parent)
    uri = editor.open(model, MODEL)
    found = editor.wait_for(lambda: editor.newest(uri))
    assert [one.code for one in found] == ["DEV103"]
    assert editor.leave() == 0


def test_an_editor_that_asks_and_is_not_told_of_news_waits_for_both(model):
    asks = lsp.TextDocumentClientCapabilities(diagnostic=lsp.DiagnosticClientCapabilities())
    editor = Editor(model.parent, capabilities=lsp.ClientCapabilities(text_document=asks))
    uri = editor.open(model, MODEL)
    document = lsp.TextDocumentIdentifier(uri)
    told = editor.ask(lsp.TEXT_DOCUMENT_DIAGNOSTIC, lsp.DocumentDiagnosticParams(document))
    assert [one.code for one in told.items] == ["DEV103"]
    assert editor.leave() == 0


URI = "file:///train.py"
FOUND = Finding(
    "DEV101", "some-rule", Severity.ERROR, "wrong", Span(0, 1), (), "", Certainty.CERTAIN
)


class Programs:
    """A worker for which it takes long to ask the programs around."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.begun = threading.Semaphore(0)
        self.wanted: object = None

    def analyse(self, document, before, is_abandoned):
        self.calls.append("analyse")
        unfinished: object = self
        return DocumentAnalysis(document, unfinished=unfinished)  # type: ignore[arg-type]

    def finish(self, analysis, is_abandoned):
        self.calls.append("finish")
        self.begun.release()
        while self.wanted is None:
            if is_abandoned():
                raise Abandoned
        return replace(analysis, findings=(FOUND,), unfinished=None)


def page(version: int) -> OpenFile:
    return OpenFile(URI, "/train.py", Part(URI, version, Lines("x = 1\n")))


async def begun(worker: Programs) -> None:
    assert await asyncio.to_thread(worker.begun.acquire, timeout=30)


def session() -> tuple[Session, Programs, list[int]]:
    told: list[int] = []
    made, worker = Session(lambda analysis, _: told.append(len(analysis.findings))), Programs()
    made.worker = worker  # type: ignore[assignment]
    return made, worker, told


def test_whoever_asks_for_something_else_comes_first():
    async def ask() -> None:
        made, worker, told = session()
        made.put(page(1))
        await made.analysis_of(URI)
        await begun(worker)
        assert await made.ask(lambda: "at once") == "at once"
        worker.wanted = True
        found = await made.whole_analysis_of(URI)
        assert found is not None
        assert found.findings == (FOUND,)
        assert told == [0, 1]
        assert worker.calls[:3] == ["analyse", "finish", "finish"]
        made.close()

    asyncio.run(ask())


def test_programs_are_not_asked_about_an_old_version():
    async def ask() -> None:
        made, worker, told = session()
        made.put(page(1))
        await made.analysis_of(URI)
        await begun(worker)
        made.put(page(2))
        worker.wanted = False
        await made.whole_analysis_of(URI)
        assert told == [0, 0, 1]
        made.close()

    asyncio.run(ask())
