"""Adopts one file in a copy of its repository, and sees whether all is as it should be."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.adoption.cells import text_of
from benchmarks.adoption.companions import companions

LIMIT = 180.0
"""In seconds: adoption that takes longer counts as one that hangs."""

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Adopted:
    """What became of a file.

    Attributes:
        verdict: `clean`, or what was not as it should be.
        left: what is left to the reader: a line and a code each.
        changed: whether anything was.
    """

    verdict: str
    left: tuple[str, ...] = ()
    changed: bool = False


def adopt(file: Path) -> Adopted:
    """Adopt a file and the local modules that it imports, where they lie."""
    files = [file, *companions(file)]
    before = {each: each.read_bytes() for each in files}
    said = _devicelint("adopt", "--output-format=json", *map(str, files))
    if isinstance(said, str):
        return Adopted(said)
    changed = any(each.read_bytes() != data for each, data in before.items())
    left = tuple(_left(said, file))
    fault = next(_faults(before), "") or ("" if not left else f"{len(left)} left")
    if not fault and not changed:
        fault = "nothing changed"
    return Adopted(fault or "clean", left, changed)


def _left(said: list[dict[str, Any]], file: Path) -> Iterator[str]:
    for finding in said:
        where = (
            ""
            if Path(finding["filename"]).name == file.name
            else f"{Path(finding['filename']).name}:"
        )
        cell = f"cell {finding['cell']}:" if finding.get("cell") else ""
        yield f"{where}{cell}{finding['location']['row']} {finding['code']}"


def _faults(before: dict[Path, bytes]) -> Iterator[str]:
    """Yield what must never happen, whatever is left."""
    adopted = {each: each.read_bytes() for each in before}
    if isinstance(_devicelint("adopt", "--output-format=json", *map(str, before)), str):
        yield "cannot be adopted again"
    if any(each.read_bytes() != data for each, data in adopted.items()):
        yield "a second time changes more"
    for file, data in before.items():
        if file.suffix == ".ipynb":
            yield from _notebook_faults(data, adopted[file])
        else:
            yield from _text_faults(data, adopted[file])


def _text_faults(before: bytes, after: bytes) -> Iterator[str]:
    """What stands outside of the changes: line ends, the last line, comments."""
    if before.count(b"\r\n") == before.count(b"\n") and after.count(b"\r\n") != after.count(b"\n"):
        yield "other line ends"
    if b"\r" not in before and b"\r" in after:
        yield "other line ends"
    if before.endswith(b"\n") != after.endswith(b"\n"):
        yield "another last line"
    if not _keeps_order(_comments(before), _comments(after)):
        yield "a comment is lost"


def _comments(data: bytes) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def _keeps_order(wanted: list[str], there: list[str]) -> bool:
    """Whether the one is what is left of the other without some of it."""
    rest = iter(there)
    return all(any(each == other for other in rest) for each in wanted)


def _notebook_faults(before: bytes, after: bytes) -> Iterator[str]:
    """All but the source of code cells is the same, and Jupyter takes it."""
    if _without_sources(before) != _without_sources(after):
        yield "more than the source of cells changed"
    yield from _text_faults(text_of(before).encode(), text_of(after).encode())
    try:
        import nbformat
    except ImportError:
        return
    try:
        nbformat.validate(nbformat.reads(after.decode(), as_version=4))
    except Exception as error:  # noqa: BLE001 - whatever it is, the notebook is not valid
        try:
            nbformat.validate(nbformat.reads(before.decode(), as_version=4))
        except Exception:  # noqa: BLE001 - it never was
            return
        yield f"no valid notebook: {error}"


def _without_sources(data: bytes) -> object:
    notebook = json.loads(data)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = None
    return notebook


def _devicelint(*words: str) -> list[dict[str, Any]] | str:
    """What devicelint says, or what went wrong."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "devicelint", *words],
            capture_output=True,
            timeout=LIMIT,
            check=False,
            cwd=ROOT,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {LIMIT:g} s"
    if done.returncode > 1:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return f"failed: {lines[-1] if lines else done.returncode}"
    document = json.loads(done.stdout)
    found: list[dict[str, Any]] = document["findings"] if isinstance(document, dict) else document
    return found
