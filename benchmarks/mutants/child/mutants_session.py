"""A plugin of pytest that collects tests, and then runs those that it is asked for.

Each request gives files other texts, and is served in a process forked after the collection: the
results of its tests are those that `corpora_results` writes, and what is noted here beside them.
"""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import corpora_results
import mutants_forked
import mutants_replaced
import pytest

FILES = "MUTANTS_FILES"
"""A file that lists those whose text may be another one."""

MADE = "runtime_guard_made"

_LATE_ERRORS = 100

mutants_replaced.install()


class Notes:
    """What a test did, beside its result.

    Attributes:
        file: where that is written; nowhere while there is none.
        made: the moves that were made since this was empty.
        places: the lines of the tree that the error came through, the innermost last.
    """

    def __init__(self) -> None:
        self.file: Path | None = None
        self.tree = ""
        self.made: set[int] = set()
        self.places: list[tuple[str, int]] = []

    def made_move(self, index: int, value: Any) -> Any:
        """Called where a move was made, with its value."""
        self.made.add(index)
        return value

    def write(self, test: str) -> None:
        """Write down what a test did."""
        line = {"test": test, "made": sorted(self.made), "places": self.places}
        self.made, self.places = set(), []
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


NOTES = Notes()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Write down what each test did."""
    try:
        return (yield)
    finally:
        NOTES.write(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the lines that an error came through."""
    report = yield
    if report.outcome == "failed" and call.excinfo is not None and not NOTES.places:
        NOTES.places = _places(call.excinfo.value, NOTES.tree)
    return report


def _places(error: BaseException, tree: str) -> list[tuple[str, int]]:
    """The lines below a folder that an exception, and those it came from, came through."""
    found: list[tuple[str, int]] = []
    for each in corpora_results._chain(error):
        traceback = each.__traceback__
        while traceback is not None:
            file = os.path.realpath(traceback.tb_frame.f_code.co_filename)
            place = (os.path.relpath(file, tree), traceback.tb_lineno)
            if file.startswith(tree + os.sep) and place not in found:
                found.append(place)
            traceback = traceback.tb_next
    return found[:_LATE_ERRORS]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run tests on request, instead of all."""
    listed = json.loads(Path(os.environ[FILES]).read_text(encoding="utf-8"))
    NOTES.tree = listed["tree"]
    functions = mutants_replaced.Functions(frozenset(listed["files"]))
    builtins.runtime_guard_made = NOTES.made_move  # type: ignore[attr-defined]
    items = {item.nodeid: item for item in session.items}

    def answer(request: mutants_forked.Request) -> str:
        folder = Path(request["folder"])
        os.environ[corpora_results.FILE] = str(folder / "results.jsonl")
        NOTES.file = folder / "notes.jsonl"
        try:
            for file, before, after in request["texts"]:
                functions.replace(file, before, after, lenient=request["lenient"])
        except mutants_replaced.NeedsImport as error:
            return f"import: {error}"
        wanted = request["tests"] or list(items)
        chosen = [items[test] for test in wanted if test in items]
        for item, following in zip(chosen, [*chosen[1:], None], strict=False):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return f"{len(chosen)} tests"

    mutants_forked.serve(answer)
    return True
