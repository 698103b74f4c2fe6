"""Compiles the files of chosen folders with notes: those imported, and the one that is run."""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from benchmarks.agreement.recording.instrumenting import instrumented
from benchmarks.agreement.recording.places import Places

_compile = builtins.compile


class Chosen:
    """The files that are noted."""

    def __init__(self, folders: Sequence[str], places: Places) -> None:
        self._folders = tuple(os.path.realpath(one) for one in folders)
        self._places = places

    def holds(self, path: object) -> bool:
        """Whether a file is one of them."""
        if not isinstance(path, str) or not path.endswith(".py"):
            return False
        real = os.path.realpath(path)
        return any(real == one or real.startswith(one + os.sep) for one in self._folders)

    def compiled(self, source: bytes, path: str, flags: int = 0) -> CodeType:
        """The code of a file: with notes, or as it is where these cannot be put into it.

        Raises:
            SyntaxError: it is no Python.
        """
        try:
            tree = instrumented(source, os.path.realpath(path), self._places)
            code: CodeType = _compile(tree, path, "exec", flags, dont_inherit=True)
        except RecursionError:
            self._places.failed.append(os.path.realpath(path))
            code = _compile(source, path, "exec", flags, dont_inherit=True)
        return code


class NotingLoader(SourceFileLoader):
    """Loads a file with notes, and leaves no bytecode of that behind."""

    def __init__(self, name: str, path: str, chosen: Chosen) -> None:
        super().__init__(name, path)
        self._chosen = chosen

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - there is one file
        """The code of the file, never from a cache."""
        return self._chosen.compiled(self.get_data(self.path), self.path)


class NotingFinder(MetaPathFinder):
    """Finds what Python finds, and gives chosen files a loader that notes."""

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module of the chosen folders; None for all others, which Python then looks for."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return None
        if not self._chosen.holds(spec.origin):
            return None
        assert spec.origin is not None
        spec.loader = NotingLoader(fullname, spec.origin, self._chosen)
        return spec


def note_what_is_loaded(chosen: Chosen) -> None:
    """From now on, chosen files are noted: imported ones, and those that somebody compiles to run.

    A script is compiled by who runs it: by `runpy`, or by a launcher.
    """

    def compile_(
        source: Any, filename: Any, mode: str, flags: int = 0, *rest: Any, **more: Any
    ) -> Any:
        is_text = isinstance(source, (str, bytes)) and mode == "exec"
        if is_text and not flags & ast.PyCF_ONLY_AST and chosen.holds(filename):
            text = source.encode() if isinstance(source, str) else source
            return chosen.compiled(text, filename, flags)
        return _compile(source, filename, mode, flags, *rest, **more)

    sys.meta_path.insert(0, NotingFinder(chosen))
    builtins.compile = compile_
