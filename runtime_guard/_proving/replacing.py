"""Lets Python read another text where it reads a script; the script's own file is not touched."""

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
    from runtime_guard._proving.plan import Plan


def replace_script(plan: Plan) -> None:
    """Read the text of the plan where this process opens the code of the script.

    It does when it runs the script, when a spawned child runs it once more, and when another
    module imports it. Tracebacks show the lines of the text that ran.
    """
    core: Any = sys.modules["_io"]
    opening = core.open_code

    def open_code(path: str) -> Any:
        if not _is_script(path, plan):
            return opening(path)
        with tokenize.open(plan.shown) as file:
            lines = file.readlines()
        # No time of change: the entry is not compared with the file.
        linecache.cache[path] = (sum(map(len, lines)), None, lines, path)
        return opening(plan.text)

    core.open_code = io.open_code = open_code
    loader: Any = SourceFileLoader
    get_code = loader.get_code

    def get_code_of_text(self: Any, name: str) -> Any:
        path = self.get_filename(name)
        if not _is_script(path, plan):
            return get_code(self, name)
        # What is compiled from another text is not kept in the script's cache, nor read from it.
        return compile(self.get_data(path), path, "exec", dont_inherit=True)

    loader.get_code = get_code_of_text


def _is_script(path: object, plan: Plan) -> bool:
    if not isinstance(path, str) or not path.endswith(Path(plan.script).suffix):
        return False
    return os.path.realpath(path) == plan.script
