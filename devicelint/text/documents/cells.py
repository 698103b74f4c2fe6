"""The code cells of a notebook, and where their sources stand in its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from devicelint.finding import InputError, Span
from devicelint.text.documents.json_text import JsonPlaces, WrittenText, escapes_all_but_ascii

OLDEST_FORMAT = 4


@dataclass(frozen=True)
class CodeCell:
    """A code cell as it is written."""

    number: int
    """From 1, among all cells."""
    source: WrittenText
    span: Span
    """Where the source stands in the JSON."""
    is_foreign: bool
    """Whether its metadata name another language."""
    may_raise: bool
    """Whether it shows an error on purpose."""


@dataclass(frozen=True)
class WrittenNotebook:
    """What is read of a notebook."""

    cells: tuple[CodeCell, ...]
    """Those with code; none, where the kernel is not Python's."""
    needs_accelerator: bool
    """Whether the metadata ask for a machine with an accelerator, as Colab writes them."""


def read_written(raw: str, path: str) -> WrittenNotebook:
    """The code cells of a notebook in Python; raises InputError for what is no notebook."""
    document = _loaded(raw, path)
    cells = _cells(document, path)
    needs_accelerator = _at(document, "metadata", "accelerator") in ("GPU", "TPU")
    located = tuple(_located(raw, cells)) if _is_python(document) else ()
    return WrittenNotebook(located, needs_accelerator)


def _located(raw: str, cells: list[dict[str, Any]]) -> Iterator[CodeCell]:
    places = JsonPlaces(raw)
    ascii_only = escapes_all_but_ascii(raw)
    starts = places.elements(places.member(places.first(), "cells"))
    for number, (cell, start) in enumerate(zip(cells, starts, strict=True), start=1):
        if cell["cell_type"] == "code":
            begin = places.member(start, "source")
            span = Span(begin, places.end(begin))
            source = WrittenText(raw[span.start : span.end], ascii_only)
            yield CodeCell(number, source, span, _is_foreign(cell), _may_raise(cell))


def _loaded(raw: str, path: str) -> dict[str, Any]:
    if not raw.strip():
        raise InputError(path, 1, 0, "is no notebook: it is empty")
    if raw.startswith("version https://git-lfs"):
        raise InputError(path, 1, 0, "is no notebook: it is a pointer of Git LFS, not fetched yet")
    try:
        document = json.loads(raw)
    except json.JSONDecodeError as error:
        message = f"is no notebook: its JSON is broken: {error.msg}"
        raise InputError(path, error.lineno, error.colno - 1, message) from None
    except RecursionError:
        raise InputError(path, 1, 0, "is no notebook: its JSON is nested too deeply") from None
    except ValueError as error:  # A number of too many digits.
        raise InputError(path, 1, 0, f"is no notebook: its JSON is broken: {error}") from None
    if not isinstance(document, dict):
        raise InputError(path, 1, 0, "is no notebook: its JSON is no object")
    return document


def _cells(document: dict[str, Any], path: str) -> list[dict[str, Any]]:
    version = document.get("nbformat")
    if "worksheets" in document or (isinstance(version, int) and version < OLDEST_FORMAT):
        message = (
            f"is a notebook of the old format {version}: bring it up to date with"
            " `jupyter nbconvert --to notebook --inplace`"
        )
        raise InputError(path, 1, 0, message)
    cells = document.get("cells")
    if not isinstance(cells, list):
        raise InputError(path, 1, 0, "is no notebook: it has no list of cells")
    for number, cell in enumerate(cells, start=1):
        if complaint := _complaint(cell):
            raise InputError(path, 1, 0, f"is no notebook: this cell {complaint}", number)
    return cells


def _complaint(cell: object) -> str:
    if not isinstance(cell, dict):
        return "is no object"
    if "cell_type" not in cell:
        return "has no cell_type"
    source = cell.get("source")
    is_text = isinstance(source, str) or (
        isinstance(source, list) and all(isinstance(line, str) for line in source)
    )
    return "" if is_text or cell["cell_type"] != "code" else "has no source that is text"


def _is_python(document: dict[str, Any]) -> bool:
    """Whether the kernel is Python's, as far as the notebook says."""
    said = _at(document, "metadata", "language_info", "name") or _at(
        document, "metadata", "kernelspec", "language"
    )
    return said is None or said.lower() in ("python", "ipython")


def _is_foreign(cell: dict[str, Any]) -> bool:
    said = _at(cell, "metadata", "vscode", "languageId") or _at(cell, "metadata", "language")
    return said is not None and said.lower() not in ("python", "ipython")


def _may_raise(cell: dict[str, Any]) -> bool:
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return isinstance(tags, list) and "raises-exception" in tags


def _at(value: object, *keys: str) -> str | None:
    """The string at a path of keys, if there is one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None
