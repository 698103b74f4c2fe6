"""The command line, in this process, over and over."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.fuzz.accidents import mutated
from benchmarks.fuzz.cases import Case, Outcome, cache_case, faults


def tried(case: Case, folder: Path) -> Outcome:
    """Run a case in a folder of its own."""
    _fill(folder, case)
    return _run(case, folder)


def _run(case: Case, folder: Path) -> Outcome:
    from devicelint.cli import main

    with _in(folder), _streams(case.standard_input) as (out, error):
        try:
            status: object = main(case.words)
        except BaseException:  # noqa: BLE001 - whatever leaves `main` is a fault
            status = traceback.format_exc()
    after = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return Outcome(status, out(), error(), after)


def _fill(folder: Path, case: Case) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "sub").mkdir(parents=True)
    for name, data in case.files.items():
        (folder / name).write_bytes(data)


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _streams(given: bytes) -> Iterator[tuple[Callable[[], str], Callable[[], str]]]:
    """Standard streams that are kept."""
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (given, b"", b"")]
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = streams

    def told(stream: io.TextIOWrapper) -> Callable[[], str]:
        def read() -> str:
            stream.flush()
            kept = stream.buffer
            assert isinstance(kept, io.BytesIO)
            return kept.getvalue().decode("utf-8", "backslashreplace")

        return read

    try:
        yield told(streams[1]), told(streams[2])
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def faults_of(case: Case, folder: Path) -> list[str]:
    """What is wrong with what becomes of a case."""
    return faults(case, tried(case, folder))


def faults_after_damage(number: int, folder: Path) -> list[str]:
    """What is wrong where the cache of a case is damaged, and with the run after that."""
    case, rng = cache_case(number), random.Random(f"damage {number}")
    first = tried(case, folder)
    found = faults(case, first)
    for path in sorted((folder / ".devicelint_cache").rglob("*")):
        if path.is_file():
            path.write_bytes(
                rng.choice((mutated, lambda _, data: data[:-1]))(rng, path.read_bytes())
            )
    for when in ("with a damaged cache", "after that"):
        again = _run(case, folder)
        found += faults(case, again)
        if (again.status, again.out) != (first.status, first.out):
            found.append(
                f"{when}: {again.status} {again.out!r} is not {first.status} {first.out!r}"
            )
    return found
