"""How far runs of a script are: one line on a terminal, gone when they are done.

devicelint has a line of the same kind; neither package may import the other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from runtime_guard.profiler.report.words import printable

if TYPE_CHECKING:
    from rich.progress import Task
    from rich.text import Text

Said: TypeAlias = Callable[[int, int], None]
"""Takes the number of runs that are done, and of those that there will be."""


@contextmanager
def shown(script: str, clock: Callable[[], float] = monotonic) -> Iterator[Said]:
    """Show what runs, for as long as this lasts, where somebody looks at a terminal."""
    if not is_wanted():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

    class Line(ProgressColumn):
        def render(self, task: Task) -> Text:
            return _line(script, task)

    console = Console(stderr=True, highlight=False)
    bar = Progress(
        Line(),
        console=console,
        get_time=clock,
        refresh_per_second=4,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = bar.add_task("", total=None)
    with bar:
        yield lambda done, total: bar.update(task, completed=done, total=total, refresh=True)


def is_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether somebody looks at standard error."""
    is_plain = environment.get("TERM") == "dumb" or environment.get("CI")
    return sys.stderr.isatty() and not is_plain


def _line(script: str, task: Task) -> Text:
    from rich.text import Text

    done = f", {task.completed:,.0f} of {task.total:,.0f} runs done" if task.total else ""
    said = f"running {script}{done}, {task.elapsed or 0:,.0f} s"
    return Text(printable(said), no_wrap=True, overflow="ellipsis")
