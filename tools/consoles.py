"""Write anew what consoles of pages show.

What `cat` shows is put into a file; what `head` shows is there, and commands are run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from devicelint.cli import main

PAGES = (Path("docs/agents.md"), Path("docs/configuration.md"), Path("docs/old-code.md"))
HERE = "/home/ada/project"
"""What a page calls the current folder."""

_NOBODY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
}

_CONSOLE = re.compile(r"^```console\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


def replayed(page: str) -> str:
    """Return the page with what the commands really say, one after the other, in one folder."""
    with in_an_empty_folder():
        return _CONSOLE.sub(lambda each: f"```console\n{_replayed(each['text'])}```", page)


@contextlib.contextmanager
def in_an_empty_folder() -> Iterator[None]:
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
            case ["head", name]:
                shown = Path(name).read_text(encoding="utf-8")
            case ["devicelint", *words, "|", "head", lines]:
                shown = "".join(_said(words).splitlines(keepends=True)[: int(lines[1:])])
            case ["devicelint", *words]:
                shown = _said(words)
            case ["git" | "ruff" as program, *words]:
                shown = _said_by(program, words)
            case _:
                pass  # Another program's, shown as it was written.
        told += f"{command}\n{shown}" if command else part
    return told


def _said(words: list[str]) -> str:
    """What a person sees, on both streams."""
    raw = io.BytesIO()
    screen = io.TextIOWrapper(raw, encoding="utf-8", newline="\n", write_through=True)
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        main(words)
    return raw.getvalue().decode().replace(str(Path.cwd()), HERE)


def _said_by(program: str, words: list[str]) -> str:
    """The same of another program, which knows nothing of who runs it."""
    called = [program] if program == "git" else [sys.executable, "-m", program]
    done = subprocess.run(
        [*called, *words],
        env={**os.environ, **_NOBODY},
        check=False,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout
