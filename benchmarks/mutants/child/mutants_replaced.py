"""Gives functions that are there already the code of another text of their file.

A file that is not imported yet is imported from the other text instead.
"""

from __future__ import annotations

import gc
import linecache
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import machinery
from types import CodeType, FunctionType

Key = tuple[str, str, int]
"""The file, name and first line of a function."""

OPTIMIZED = 1
"""The flag of the code of functions, which that of modules and classes lacks."""

_texts: dict[str, str] = {}


class NeedsImport(Exception):
    """The texts differ in what only the import of the file executes."""


class Functions:
    """The functions of some files that are there now.

    Args:
        files: the files, as resolved paths.
    """

    def __init__(self, files: frozenset[str]) -> None:
        self._found: dict[Key, list[FunctionType]] = {}
        self.imported = {
            os.path.realpath(file)
            for module in list(sys.modules.values())
            if isinstance(file := getattr(module, "__file__", None), str)
        }
        for each in gc.get_objects():
            if type(each) is FunctionType:  # Others answer for their class, and warn.
                file = os.path.realpath(each.__code__.co_filename)
                if file in files:
                    self._found.setdefault(_key(file, each.__code__), []).append(each)

    def replace(self, file: str, before: str, after: str, *, lenient: bool = False) -> None:
        """Give the functions of a file the code that they have in another text.

        Where lenient, what is not in a function stays as it was.

        Raises:
            NeedsImport: that would not be all that changes.
        """
        if file in self.imported:
            old, new = (compile(text, file, "exec", dont_inherit=True) for text in (before, after))
            for pair in list(_pairs(old, new, lenient=lenient)):
                self._give(file, *pair, lenient=lenient)
        else:
            _texts[file] = after
        # What reads the source of a function finds this one.
        linecache.cache[file] = (len(after), None, after.splitlines(keepends=True), file)

    def _give(self, file: str, old: CodeType, new: CodeType, *, lenient: bool) -> None:
        for function in self._found.get(_key(file, old), ()):
            if function.__code__ != old:
                continue
            if old.co_freevars == new.co_freevars:
                function.__code__ = new
            elif not lenient:
                raise NeedsImport(f"{old.co_name} closes over other variables")


def _key(file: str, code: CodeType) -> Key:
    return file, code.co_name, code.co_firstlineno


def _pairs(old: CodeType, new: CodeType, *, lenient: bool) -> Iterator[tuple[CodeType, CodeType]]:
    """Each function that differs, in both texts; functions inside of functions as well."""
    if old == new:
        return
    inner = [[each for each in code.co_consts if isinstance(each, CodeType)] for code in (old, new)]
    if old.co_flags & OPTIMIZED:
        yield old, new
        if len(inner[0]) != len(inner[1]):
            return
    elif not lenient and _body(old) != _body(new):
        raise NeedsImport(f"{old.co_name} is another one")
    for pair in zip(*inner, strict=False):
        yield from _pairs(*pair, lenient=lenient)


def _body(code: CodeType) -> tuple[object, ...]:
    """What a module or class executes, but for the functions that it makes."""
    constants = [
        each.co_name if isinstance(each, CodeType) else (type(each), each)
        for each in code.co_consts
    ]
    # A class notes the line on which it begins in no constant; its qualified name is one.
    return code.co_code, code.co_names, tuple(constants), code.co_name


def import_from(texts: Mapping[str, str]) -> None:
    """From now on, import these files from other texts."""
    _texts.update(texts)


def install() -> None:
    """Let imports look for the other texts first."""
    loader = machinery.SourceFileLoader
    load = loader.get_code

    def get_code(self: machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        path = os.path.realpath(self.get_filename(fullname))
        if path not in _texts:
            return load(self, fullname)
        return compile(_texts[path], path, "exec", dont_inherit=True)

    loader.get_code = get_code  # type: ignore[method-assign, assignment]
