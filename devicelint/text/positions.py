"""Where the nodes of a libcst tree stand in the text that it was parsed from.

libcst's own `PositionProvider` costs several times a parse, because it computes lines and columns
for every node of the file.  Here only the nodes asked for are located, as character offsets, at
a fraction of a parse.  The price is the use of `_codegen`, the private protocol of libcst's code
generator, the same from libcst 1.5 to 1.9: this is the only file that knows it, and it falls back
to the public providers where that protocol has changed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import accumulate
from typing import Any, Protocol, cast

import libcst as cst

from devicelint.finding import Span
from devicelint.text.plain import plainly_written

Range = tuple[int, int]


class HasText(Protocol):
    """What `locate` needs of a source file."""

    @property
    def text(self) -> str:
        """The exact text that was parsed."""


def locate(
    module: cst.Module, source: HasText, sites: Iterable[cst.CSTNode]
) -> dict[cst.CSTNode, Span]:
    """Where each of `sites`, nodes of `module`, stands in the text that `module` was parsed from.

    An expression is located with its own parentheses, so that text put after the span follows the
    closing one.  Everything else is where `PositionProvider` sees it: a statement without its
    leading comments, its decorators, its trailing comment and its newline, and a compound one
    up to the end of the last statement of its body.  What stands in another file is left out.
    """
    wanted = {id(site): site for site in sites}
    if not wanted:
        return {}
    try:
        code, ranges = _ranges_counted(module, wanted)
    except (AttributeError, KeyError, TypeError):
        code, ranges = _ranges_provided(module, wanted)
    alignment = _Alignment(code, source.text)
    return {site: alignment.span(*ranges[key]) for key, site in wanted.items() if key in ranges}


def _is_wrapped_by_its_parentheses(node: cst.CSTNode) -> bool:
    """Whether all that a node generates is the node and its parentheses, and no comma after it."""
    return isinstance(node, cst.BaseExpression) and not isinstance(node, cst.StarredElement)


_NOTHING: AbstractContextManager[None] = nullcontext()


def written(module: cst.Module, node: cst.CSTNode) -> str:
    """The text of a node and of what surrounds it: `code_for_node`, in two thirds of the time."""
    if (plain := plainly_written(node)) is not None:
        return plain
    writer = _Writer(module)
    node._codegen(cast(Any, writer))
    return "".join(writer.tokens)


class _Writer:
    """Receives the code that a module generates: all that libcst's nodes ask of a state."""

    def __init__(self, module: cst.Module) -> None:
        self.default_indent = module.default_indent
        self.default_newline = module.default_newline
        self.tokens: list[str] = []
        self.add_token = self.tokens.append
        self.indents: list[str] = []
        self.increase_indent = self.indents.append

    def decrease_indent(self) -> None:
        self.indents.pop()

    def add_indent_tokens(self) -> None:
        self.tokens.extend(self.indents)

    def pop_trailing_newline(self) -> None:
        if self.tokens:
            self.tokens.pop()

    def before_codegen(self, node: cst.CSTNode) -> None:
        pass

    after_codegen = before_codegen

    def record_syntactic_position(self, *_: Any, **__: Any) -> AbstractContextManager[None]:
        return _NOTHING


class _Counter(_Writer):
    """Notes at which tokens the wanted nodes stand, too.

    A position is the number of tokens before it; they are turned into characters once, at the end.
    """

    def __init__(self, module: cst.Module, wanted: Iterable[int]) -> None:
        super().__init__(module)
        self.wanted = set(wanted)
        self.begun: dict[int, int] = {}
        self.ranges: dict[int, Range] = {}
        self.semantic: dict[int, Range] = {}

    def before_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self.wanted:
            self.begun[id(node)] = len(self.tokens)

    def after_codegen(self, node: cst.CSTNode) -> None:
        key = id(node)
        if key in self.wanted:
            whole = (self.begun[key], len(self.tokens))
            semantic = self.semantic.get(key, whole)
            self.ranges[key] = whole if _is_wrapped_by_its_parentheses(node) else semantic

    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> AbstractContextManager[None]:
        if id(node) not in self.wanted:
            return _NOTHING
        self.wanted.update(id(bound) for bound in (start_node, end_node) if bound is not None)
        return self._recorded(node, start_node, end_node)

    @contextmanager
    def _recorded(
        self, node: cst.CSTNode, first: cst.CSTNode | None, last: cst.CSTNode | None
    ) -> Iterator[None]:
        start = len(self.tokens)
        yield
        end = len(self.tokens)
        self.semantic[id(node)] = (
            start if first is None else self.ranges[id(first)][0],
            end if last is None else self.ranges[id(last)][1],
        )


def _ranges_counted(
    module: cst.Module, wanted: Mapping[int, cst.CSTNode]
) -> tuple[str, dict[int, Range]]:
    """The code that libcst generates, and the wanted nodes' places in it."""
    state = _Counter(module, wanted)
    module._codegen(cast(Any, state))
    offsets = list(accumulate(map(len, state.tokens), initial=0))
    last = len(offsets) - 1  # the generator may have taken a final newline back
    return "".join(state.tokens), {
        key: (offsets[min(start, last)], offsets[min(end, last)])
        for key, (start, end) in state.ranges.items()
    }


def _ranges_provided(
    module: cst.Module, wanted: Mapping[int, cst.CSTNode]
) -> tuple[str, dict[int, Range]]:
    """The same, from libcst's public position providers."""
    from libcst import metadata

    wrapper = metadata.MetadataWrapper(module, unsafe_skip_copy=True)
    semantic = wrapper.resolve(metadata.PositionProvider)
    whole = wrapper.resolve(metadata.WhitespaceInclusivePositionProvider)
    code = module.code
    lines = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", code))]
    ranges = {}
    for key, node in wanted.items():
        if node not in semantic:
            continue
        found = whole[node] if _is_wrapped_by_its_parentheses(node) else semantic[node]
        start, end = found.start, found.end
        ranges[key] = (
            min(lines[start.line - 1] + start.column, len(code)),
            lines[end.line - 1] + end.column if end.line <= len(lines) else len(code),
        )
    return code, ranges


class _Alignment:
    """From offsets in the code that libcst generates to offsets in the text that it read.

    The two are equal for nearly every file.  What libcst is known to lose is blank: a byte order
    mark, form feeds before a statement, a line continuation at the start of a file, a final
    carriage return.
    """

    def __init__(self, code: str, text: str) -> None:
        self.offsets: list[int] = []  # in `code`, where characters of `text` are missing
        self.shifts: list[int] = []  # how many are missing up to and including there
        if code != text:
            self._align(code, text)

    def _align(self, code: str, text: str) -> None:
        position, shift = 0, 0
        while position < len(code):
            position += _common_prefix(code, position, text, position + shift)
            begin = shift
            while position < len(code) and not text.startswith(code[position], position + shift):
                if not _is_blank(text[position + shift : position + shift + 1]):
                    raise ValueError(f"libcst does not give the text back after {position}")
                shift += 1
            if shift != begin:
                self.offsets.append(position)
                self.shifts.append(shift)

    def span(self, start: int, end: int) -> Span:
        """Where the characters of `code` from `start` up to `end` stand in the text."""
        begin = self._offset(start)
        return Span(begin, self._offset(end - 1) + 1 if start < end else begin)

    def _offset(self, offset: int) -> int:
        index = bisect_right(self.offsets, offset)
        return offset + (self.shifts[index - 1] if index else 0)


def _common_prefix(first: str, start: int, second: str, begin: int) -> int:
    """How many characters `first` from `start` and `second` from `begin` have in common."""
    size, step = 0, 64
    while step:
        piece = first[start + size : start + size + step]
        if len(piece) == step and second.startswith(piece, begin + size):
            size += step
            step *= 2
        else:
            step //= 2
    return size


def _is_blank(character: str) -> bool:
    return character.isspace() or character in ("\\", "\ufeff")
