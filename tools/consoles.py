"""Write anew what consoles of pages show: `cat` shows files that are there, commands are run."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from devicelint.cli import main

PAGES = (Path("docs/configuration.md"),)
HERE = "/home/ada/project"
"""What a page calls the current folder."""

_CONSOLE = re.compile(r"^```console\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


def replayed(page: str) -> str:
    """Return the page with what the commands really say, one after the other, in one folder."""
    with _folder():
        return _CONSOLE.sub(lambda each: f"```console\n{_replayed(each['text'])}```", page)


@contextlib.contextmanager
def _folder() -> Iterator[None]:
    """An empty folder, and a terminal without colour."""
    before, environment = Path.cwd(), dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["NO_COLOR"] = "1"
        try:
            yield
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environment)


def _replayed(console: str) -> str:
    told = ""
    for part in re.split(r"^(?=\$ )", console, flags=re.MULTILINE):
        command, _, shown = part.partition("\n")
        match shlex.split(command.removeprefix("$ "), comments=True):
            case ["cat", name]:
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_text(shown, encoding="utf-8")
            case ["devicelint", *words, "|", "head", lines]:
                shown = "".join(_said(words).splitlines(keepends=True)[: int(lines[1:])])
            case ["devicelint", *words]:
                shown = _said(words)
            case _:
                pass  # Another program's, shown as it was written.
        told += f"{command}\n{shown}" if command else part
    return told


def _said(words: list[str]) -> str:
    """What a person sees, on both streams."""
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        main(words)
    return screen.getvalue().replace(str(Path.cwd()), HERE)


def run(root: Path, *, check: bool) -> int:
    """Write the pages anew, or say which are stale; return the exit status."""
    status = 0
    for page in PAGES:
        text = (root / page).read_text(encoding="utf-8")
        real = replayed(text)
        if text == real:
            continue
        if check:
            print(f"{page.as_posix()}: not what devicelint says; run `make generate`")
            status = 1
        else:
            (root / page).write_text(real, encoding="utf-8", newline="\n")
            print(f"{page.as_posix()}: written")
    return status
