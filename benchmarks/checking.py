"""One file checked or fixed by devicelint, whatever becomes of it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from devicelint.config import Config
from devicelint.finding import Finding, InputError
from devicelint.linter import lint
from devicelint.text.source import SourceFile
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project

Fate: TypeAlias = Literal["checked", "unreadable", "crashed", "unfinished"]

LIMIT = 120
"""In seconds: a file that takes longer counts as one at which devicelint hangs."""


class TookTooLong(BaseException):
    """The limit is over; no handler of exceptions in between may keep it."""


@dataclass(frozen=True)
class Outcome:
    """What became of one file.

    Attributes:
        path: the file.
        fate: how it went.
        source: its text, where it could be read.
        findings: what was found.
        told: why it could not be checked.
        seconds: how long it took.
    """

    path: Path
    fate: Fate
    source: SourceFile | None = None
    findings: tuple[Finding, ...] = ()
    told: str = ""
    seconds: float = 0.0

    def lines_of(self, finding: Finding) -> range:
        """The lines on which a finding stands."""
        assert self.source is not None
        first, last = (self.source.location(at).line for at in (finding.span.start, _end(finding)))
        return range(first, last + 1)

    def cell_of(self, finding: Finding) -> int | None:
        """The cell of a notebook in which a finding stands."""
        assert self.source is not None
        return self.source.location(finding.span.start).cell

    def line_of(self, finding: Finding) -> int:
        """The line that is printed for a finding."""
        return self.lines_of(finding).start


def _end(finding: Finding) -> int:
    return max(finding.span.start, finding.span.end - 1)


def check_file(path: Path, project: Project) -> Outcome:
    """Read and check a file, as the command line does."""
    return _attempt(path, lambda: lint.check(read_source(path), Config(), project))


def check_source(source: SourceFile, project: Project) -> Outcome:
    """Check a text that stands for the file of its path."""
    return _attempt(Path(source.path), lambda: lint.check(source, Config(), project))


def fixed(source: SourceFile, project: Project, *, unsafe: bool) -> SourceFile | None:
    """The text with all its fixes made; None where they could not be."""
    config = Config(unsafe_fixes=unsafe)
    try:
        with limited(LIMIT):
            return lint.fix(source, config, project).after
    except (Exception, TookTooLong):  # noqa: BLE001 - whatever it is, nothing was fixed
        return None


def _attempt(path: Path, check: Callable[[], lint.CheckResult]) -> Outcome:
    start = time.perf_counter()
    fate: Fate = "checked"
    told = ""
    done: lint.CheckResult | None = None
    try:
        with limited(LIMIT):
            done = check()
    except InputError as error:
        fate, told = "unreadable", str(error)
    except TookTooLong:
        fate, told = "unfinished", f"not done after {LIMIT} s"
    except Exception as error:  # noqa: BLE001 - a crash is what is looked for
        fate, told = "crashed", f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - start
    if done is None:
        return Outcome(path, fate, told=told, seconds=seconds)
    return Outcome(path, fate, done.source, done.findings, seconds=seconds)


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise TookTooLong in the block after so many seconds, where the system can."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
