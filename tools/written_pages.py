"""Write pages, and parts of pages, that follow from data, from the code, from what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from tools import (
    addresses,
    agents_page,
    comparison,
    consoles,
    doc_tables,
    man_page,
    repair_tables,
    truth_tables,
    writing,
)

Writer = Callable[[str], str]
"""What a page must say, given what it says."""


def _writers() -> Iterator[tuple[Path, Writer]]:
    """What is written where, in this order."""
    project = addresses.Project.read()
    for place in (*addresses.VERSIONS, *addresses.ADDRESSES):
        yield place.path, partial(place.within, project=project)
    yield comparison.PAGE, lambda _: comparison.page()
    yield man_page.PAGE, lambda _: man_page.text()
    tables = (doc_tables.TABLES, truth_tables.TABLES, repair_tables.TABLES, writing.TABLES)
    for table in chain.from_iterable(tables):
        yield table.page, table.within
    for page in consoles.PAGES:
        yield page, consoles.replayed
    yield agents_page.PAGE, agents_page.written


def run(root: Path, *, check: bool) -> int:
    """Write the pages that are stale, or name them; return the status."""
    before: dict[Path, str] = {}
    after: dict[Path, str] = {}
    for path, written in _writers():
        if path not in before:
            file = root / path
            before[path] = file.read_text(encoding="utf-8") if file.is_file() else ""
        after[path] = written(after.get(path, before[path]))
    stale = [path for path in after if after[path] != before[path]]
    for path in stale:
        if check:
            print(f"{path.as_posix()}: not what it follows from; run `make generate`")
        else:
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(after[path], encoding="utf-8", newline="\n")
            print(f"{path.as_posix()}: written")
    return int(check and bool(stale))
