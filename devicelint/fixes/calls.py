"""Changes of the arguments of a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from devicelint.finding import Edit, Span
from devicelint.fixes.change import Change
from devicelint.fixes.layout import Layout


@dataclass(frozen=True)
class AddKeyword(Change):
    """Gives a call the argument `name=content`, laid out as its last one is.

    Where the call has an argument of that name already, its value is replaced.
    """

    site: cst.Call
    name: str
    content: str

    def sites(self) -> Iterable[cst.CSTNode]:
        """The call, its arguments and their commas, and its own closing parenthesis."""
        yield from (self.site, *self.site.rpar[:1])
        for argument in self.site.args:
            yield from (argument, argument.value)
            if isinstance(argument.comma, cst.Comma):
                yield argument.comma

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """Insertions after the last argument, or the replacement of a value."""
        closing = closing_parenthesis(self.site, layout)
        content = layout.quoted(self.content, closing)
        for argument in self.site.args:
            if argument.keyword is not None and argument.keyword.value == self.name:
                yield Edit(layout.span(argument.value), content)
                return
        if self.site.args:
            yield from _after(self.site.args[-1], f"{self.name}={content}", layout)
        else:
            yield layout.insert(closing, f"{self.name}={content}")


@dataclass(frozen=True)
class RemoveArgument(Change):
    """Takes an argument out of a call, with the comma that it needed."""

    call: cst.Call
    site: cst.Arg

    def sites(self) -> Iterable[cst.CSTNode]:
        """All arguments of the call and their commas."""
        yield from (self.call, *self.call.rpar[:1])
        for argument in self.call.args:
            yield argument
            if isinstance(argument.comma, cst.Comma):
                yield argument.comma

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One deletion: up to the next argument, or from the end of the one before."""
        arguments = [layout.span(argument) for argument in self.call.args]
        index = next(i for i, argument in enumerate(self.call.args) if argument is self.site)
        span = arguments[index]
        if index + 1 < len(arguments):
            span = Span(span.start, arguments[index + 1].start)
        elif index:
            span = Span(arguments[index - 1].end, span.end)
        elif isinstance(self.site.comma, cst.Comma):
            span = Span(span.start, layout.span(self.site.comma).end)
        yield Edit(span, "")


def closing_parenthesis(call: cst.Call, layout: Layout) -> int:
    """Where the parenthesis stands that ends the arguments, not one around the call."""
    return (layout.span(call.rpar[0]).start if call.rpar else layout.span(call).end) - 1


def _after(last: cst.Arg, keyword: str, layout: Layout) -> Iterator[Edit]:
    span = layout.span(last)
    if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
        yield layout.insert(span.start, "(")
        yield layout.insert(span.end, f"), {keyword}")
        return
    has_comma = isinstance(last.comma, cst.Comma)
    end = layout.span(last.comma).end if isinstance(last.comma, cst.Comma) else span.end
    if not _has_a_line_of_its_own(span, layout):
        yield layout.insert(end, f" {keyword}," if has_comma else f", {keyword}")
        return
    line = f"{layout.newline}{layout.indentation(span.start)}{keyword}"
    after_comment = _end_of_comment(end, layout)
    if has_comma:
        yield layout.insert(end if after_comment is None else after_comment, f"{line},")
    elif after_comment is None:
        yield layout.insert(end, f",{line}")
    else:
        yield layout.insert(end, ",")
        yield layout.insert(after_comment, f"{line},")


def _has_a_line_of_its_own(span: Span, layout: Layout) -> bool:
    before = layout.slice(layout.line_start(span.start), span.start)
    return not before.strip()


def _end_of_comment(offset: int, layout: Layout) -> int | None:
    """Where the comment ends that is all there is on the line after `offset`."""
    end = layout.line_end(offset)
    return end if layout.slice(offset, end).lstrip().startswith("#") else None
