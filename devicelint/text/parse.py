"""Text to a libcst tree, or one clear line about why there is none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate

import libcst as cst

from devicelint import profiling
from devicelint.finding import InputError
from devicelint.text.source import SourceFile

DEEPEST_BRACKETS = 200
"""CPython refuses brackets that are nested more deeply; libcst's parser overflows the stack."""
DEEPEST_EXPRESSION = 1_000
"""What `a.b.c` and `not not a` may come to; libcst takes minutes, or overflows the stack."""
_LONG_LINE, _LONG_STATEMENT = 2_000, 8_000
"""In characters: about the least that an expression takes that is nested so deeply."""

_BRACKET = re.compile(r"[()\[\]{}]")
_INDENTATION = re.compile(r"^[ \t]*\t[ \t]*", re.MULTILINE)
_STEPS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


class CheckError(InputError):
    """A file that cannot be checked: it is no Python 3, or nested too deeply."""


class GivenUpError(CheckError):
    """A file that is given up after some time; a faster machine might not have."""

    lasts = False


def parse(source: SourceFile) -> cst.Module:
    """Return the tree of a file; raises CheckError with the place of a syntax error."""
    if _may_be_too_deep(source.text) and (complaint := _complaint(source)):
        raise complaint
    try:
        with profiling.part("parse"), _taken_as_it_is():
            return cst.parse_module(source.text)
    except cst.ParserSyntaxError as error:
        # CPython says it better than libcst, and knows the place where libcst's tokenizer does not.
        complaint = _complaint(source)
        tree = None if complaint else _without_tabs(source.text)
        if tree is None:
            raise complaint or _error_of_libcst(source, error) from None
        return tree
    except RecursionError:
        raise too_deep(source) from None


def _without_tabs(text: str) -> cst.Module | None:
    """The tree of a text that CPython takes, and libcst not for a tab between its indentations.

    CPython refuses indentations that do not mean the same whether a tab is as wide as eight spaces
    or as one. So a space for each tab leaves the blocks, and every place, as they are.
    """
    spaced = _INDENTATION.sub(lambda found: " " * len(found[0]), text)
    try:
        with _taken_as_it_is():
            return cst.parse_module(spaced)
    except cst.ParserSyntaxError:
        return None


cst.CSTNode.__hash__ = object.__hash__  # type: ignore[method-assign]
"""Nodes are told apart by identity, and Python's own hash of that costs no call of a function."""

_LOOK_AT_NODE = cst.CSTNode.__post_init__


@contextmanager
def _taken_as_it_is() -> Iterator[None]:
    """What libcst's parser makes is taken as it is.

    libcst looks at every node that is made, as though somebody had written it by hand; of its own
    parser's nodes, that finds nothing, in a sixth of the parser's time.  `bool` stands for what
    does nothing: a function of Python's would take a third of that time.
    """
    cst.CSTNode.__post_init__ = bool  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        cst.CSTNode.__post_init__ = _LOOK_AT_NODE  # type: ignore[method-assign]


def too_deep(source: SourceFile) -> CheckError:
    """Return the error about a file that would exhaust the stack."""
    return CheckError(source.path, 1, 0, "is nested too deeply to be checked")


def _may_be_too_deep(text: str) -> bool:
    """Whether brackets are nested too deeply, if those in strings and comments count too.

    Or whether something is written on one line, or on several without a comma, that is long
    enough to be nested deeply without brackets.
    """
    steps = map(_STEPS.__getitem__, _BRACKET.findall(text))
    if max(accumulate(steps), default=0) > DEEPEST_BRACKETS:
        return True
    length = 0
    for line in text.split("\n"):
        size = len(line)
        length = 0 if "," in line else length + size
        if size > _LONG_LINE or length > _LONG_STATEMENT:
            return True
    return False


def _depth(tree: ast.AST) -> int:
    """How deeply the deepest expression is nested, as libcst has it."""
    deepest = 0
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        below = depth + len(getattr(node, "values", ".")) if hasattr(node, "op") else depth + 1
        waiting.extend((child, below) for child in ast.iter_child_nodes(node))
    return deepest


def _complaint(source: SourceFile) -> CheckError | None:
    """Return what CPython has to say against a text; None where it would run it."""
    import warnings

    try:
        with warnings.catch_warnings():
            # What it warns about, a linter of Python reports.
            warnings.simplefilter("ignore")
            tree = compile(source.text, source.path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
            return too_deep(source) if _depth(tree) > DEEPEST_EXPRESSION else None
    except SyntaxError as error:
        column = max((error.offset or 1) - 1, 0)
        return CheckError(source.path, error.lineno or 1, column, f"syntax error: {error.msg}")
    except (MemoryError, RecursionError):
        return too_deep(source)
    except ValueError as error:
        return CheckError(source.path, 1, 0, f"syntax error: {error}")


def _error_of_libcst(source: SourceFile, error: cst.ParserSyntaxError) -> CheckError:
    line, column = max(error.raw_line, 1), max(error.raw_column, 0)
    return CheckError(source.path, line, column, f"syntax error: {error.message}")
