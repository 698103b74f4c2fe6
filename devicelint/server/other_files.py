"""Files that are not open, and that a fix may have to change as well."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from devicelint.finding import InputError
from devicelint.server.diagnostics import uri_of
from devicelint.server.lines import Lines
from devicelint.server.open_documents import OpenDocument, OpenFile, Part
from devicelint.workspace.files import read_source


def documents_at(
    homes: Iterable[str], opened: Mapping[str, OpenDocument], roots: Iterable[str], encoding: str
) -> Iterator[OpenDocument]:
    """The files of the workspace: as they are open, or else as they lie on the disk."""
    by_home = {os.path.abspath(document.path): document for document in opened.values()}
    folders = [Path(root) for root in roots]
    for home in homes:
        if home in by_home:
            yield by_home[home]
        elif any(Path(home).is_relative_to(folder) for folder in folders):
            yield from _read(home, encoding)


def _read(home: str, encoding: str) -> Iterator[OpenDocument]:
    with suppress(InputError):
        text = read_source(Path(home)).text
        yield OpenFile(uri_of(home), home, Part(uri_of(home), None, Lines(text, encoding)))
