"""Lets Python read other texts where it reads a program; the program's files are not touched."""

from __future__ import annotations

import io
import linecache
import os
import sys
import tokenize
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from runtime_guard.mutation.plan import Plan

    TextsOf: TypeAlias = Callable[[object], Sequence[str] | None]


def replace_files(plan: Plan) -> None:
    """Read the texts of the plan where this process opens the code of their files.

    It does when it runs the script, when a spawned child runs it once more, and when a module is
    imported. Tracebacks show the lines of the text that ran.
    """
    suffixes = tuple({Path(path).suffix for path in plan.texts})

    def texts_of(path: object) -> Sequence[str] | None:
        if not isinstance(path, str) or not path.endswith(suffixes):
            return None
        return plan.texts.get(os.path.realpath(path))

    _open_texts(texts_of)
    _compile_texts(texts_of)


def _open_texts(texts_of: TextsOf) -> None:
    core: Any = sys.modules["_io"]
    opening = core.open_code

    def open_code(path: str) -> Any:
        found = texts_of(path)
        if found is None:
            return opening(path)
        text, shown = found
        with tokenize.open(shown) as file:
            lines = file.readlines()
        # No time of change: the entry is not compared with the file.
        linecache.cache[path] = (sum(map(len, lines)), None, lines, path)
        return opening(text)

    core.open_code = io.open_code = open_code


def _compile_texts(texts_of: TextsOf) -> None:
    loader: Any = SourceFileLoader
    get_code = loader.get_code

    def get_code_of_text(self: Any, name: str) -> Any:
        path = self.get_filename(name)
        if texts_of(path) is None:
            return get_code(self, name)
        # What is compiled from another text is not kept in the file's cache, nor read from it.
        return compile(self.get_data(path), path, "exec", dont_inherit=True)

    loader.get_code = get_code_of_text
