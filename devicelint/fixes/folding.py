"""Two paths that differ in their moves alone, folded into one that moves to the device at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from devicelint.finding import Edit, Span
from devicelint.fixes.calls import closing_parenthesis
from devicelint.fixes.change import Change
from devicelint.fixes.layout import Layout, NotFixable
from devicelint.fixes.suites import extent


@dataclass(frozen=True)
class MoveTo(Change):
    """`x.cuda(…)` → `x.to(device, …)`, `x.to("cuda")` → `x.to(device)`."""

    call: cst.Call
    device: str

    def sites(self) -> Iterable[cst.CSTNode]:
        """The call, its method and its arguments."""
        yield self.call
        yield from self.call.rpar[:1]
        assert isinstance(self.call.func, cst.Attribute)
        yield self.call.func.attr
        for argument in self.call.args:
            yield from (argument, argument.value)

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """The method, where it is another one; the device, in the place of what there was."""
        assert isinstance(self.call.func, cst.Attribute)
        method, arguments = self.call.func.attr, self.call.args
        if method.value != "to":
            yield Edit(layout.span(method), "to")
        positional = [one for one in arguments if one.keyword is None]
        named = [one for one in arguments if one.keyword and one.keyword.value == "device"]
        for given in (*positional[:1], *named):
            yield Edit(layout.span(given.value), self.device)
        if len(positional) > 1 and method.value != "to":
            yield layout.insert(layout.span(positional[1]).start, "non_blocking=")
        if positional or named:
            return
        if arguments:
            yield layout.insert(layout.span(arguments[0]).start, f"{self.device}, ")
        else:
            yield layout.insert(closing_parenthesis(self.call, layout), self.device)


@dataclass(frozen=True)
class KeepBranch(Change):
    """Leaves of a conditional expression one branch."""

    site: cst.IfExp
    kept: cst.BaseExpression

    def sites(self) -> Iterable[cst.CSTNode]:
        """The expression, its parentheses, and the branch."""
        yield from (self.site, self.kept, *self.site.lpar, *self.site.rpar)

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """A deletion on either side of the branch; parentheses go where nothing needs them."""
        kept, outer = layout.span(self.kept), layout.span(self.site)
        is_open = "\n" in layout.slice(kept.start, kept.end) or not isinstance(self.kept, _ATOMS)
        if self.site.lpar and is_open:
            outer = Span(layout.span(self.site.lpar[-1]).end, layout.span(self.site.rpar[0]).start)
        for span in (Span(outer.start, kept.start), Span(kept.end, outer.end)):
            if span.start < span.end:
                yield Edit(span, "")


_ATOMS = (cst.Attribute, cst.Call, cst.Name, cst.Subscript)


@dataclass(frozen=True)
class Unwrap(Change):
    """Takes statements out of an `if`: those of one branch, or the first or last of its only one.

    They move to the indentation of the `if`, with their comments; what is left of the `if` goes,
    but for a branch of which only some statements are `taken`.
    """

    looks_around = True

    site: cst.If
    kept: cst.BaseSuite | cst.Else
    taken: tuple[cst.CSTNode, ...] = ()
    repeated: cst.CSTNode | None = None
    """The statement behind the `if` that goes with it."""

    def sites(self) -> Iterable[cst.CSTNode]:
        """The `if`, what it asks, its branches, and the statements of the one that is kept."""
        yield from (self.site, self.site.test, *self._suite.body, *self.taken)
        if self.site.orelse is not None:
            yield self.site.orelse
        if self.repeated is not None:
            yield self.repeated

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """Deletions: of the heads, of the other branch, and of indentation."""
        end = extent(self.site, layout).end
        if isinstance(self._suite, cst.SimpleStatementSuite):
            head = layout.span(self.site).start
            yield Edit(Span(head, layout.span(self._suite.body[0]).start), "")
            kept = layout.span(self._suite.body[-1]).end
        else:
            yield from self._taken_out(layout)
            kept = self._end_of_block(layout)
        if self.repeated is not None:
            end = extent(self.repeated, layout).end
        last = layout.line_end(end)
        if kept < last and layout.line_end(kept) < last and not self.taken:
            yield Edit(Span(layout.line_end(kept), last), "")

    @property
    def _suite(self) -> cst.BaseSuite:
        return self.kept.body if isinstance(self.kept, cst.Else) else self.kept

    def _taken_out(self, layout: Layout) -> Iterator[Edit]:
        start, first = self._head(layout)
        head = layout.slice(start, first)
        statements = self.taken or tuple(self._suite.body)
        last = self._end_of_block(layout)
        if self.taken:
            last = layout.line_end(extent(statements[-1], layout).end)
        if self.taken and self.taken[0] is not self._suite.body[0]:
            index = list(self._suite.body).index(self.taken[0])
            first = self._next_line(extent(self._suite.body[index - 1], layout).end, layout)
        else:
            yield Edit(Span(start, first), "" if self.taken else self._comment(head, layout))
            if self.taken:
                after = self._next_line(last, layout)
                yield layout.insert(after, head)
        yield from self._dedented(first, last, layout)

    def _head(self, layout: Layout) -> tuple[int, int]:
        """From the line of the `if` to the first line of the block that is kept."""
        start = layout.line_start(layout.span(self.site).start)
        asked = layout.span(self.site.test).end
        if isinstance(self.kept, cst.Else):
            asked = layout.span(self.kept).start
        return start, self._next_line(asked, layout)

    def _next_line(self, offset: int, layout: Layout) -> int:
        following = layout.next_line(offset)
        if following is None:
            raise NotFixable("the file ends within the block")
        return following

    def _comment(self, head: str, layout: Layout) -> str:
        """The comment behind the `if`, on a line of its own."""
        _, mark, comment = head.partition("#")
        indentation = layout.indentation(layout.span(self.site).start)
        return f"{indentation}{mark}{comment}" if mark else ""

    def _end_of_block(self, layout: Layout) -> int:
        """Where the last line of the block ends, comments at its foot included."""
        statement = self._suite.body[-1]
        end = layout.line_end(extent(statement, layout).end)
        if isinstance(self._suite, cst.SimpleStatementSuite):
            return layout.span(statement).end
        inner = layout.indentation(extent(statement, layout).start)
        while (following := layout.next_line(end)) is not None:
            line_end = layout.line_end(following)
            if not layout.slice(following, line_end).startswith(f"{inner}#"):
                break
            end = line_end
        return end

    def _dedented(self, first: int, last: int, layout: Layout) -> Iterator[Edit]:
        outer = layout.indentation(layout.span(self.site).start)
        inner = layout.indentation(extent(self._suite.body[0], layout).start)
        extra = len(inner) - len(outer)
        position: int | None = first
        while position is not None and position < last:
            line = layout.slice(position, layout.line_end(position))
            if line.startswith(inner) and not _is_within_string(position, layout):
                yield Edit(Span(position, position + extra), "")
            position = layout.next_line(position)


def _is_within_string(offset: int, layout: Layout) -> bool:
    return any(one.span.start < offset < one.span.end for one in layout.literals)


@dataclass(frozen=True)
class DefineBeside(Change):
    """Defines a device by a condition, right after the statement that settles it.

    Where nothing else needs that statement, the definition takes its place.
    """

    looks_around = True

    site: cst.CSTNode
    content: str
    takes_its_place: bool = False

    def sites(self) -> Iterable[cst.CSTNode]:
        """The statement."""
        yield self.site

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One insertion, or one replacement."""
        span = extent(self.site, layout)
        content = layout.quoted(self.content, span.start)
        if self.takes_its_place:
            yield Edit(span, content)
            return
        indentation = layout.indentation(span.start)
        offset = layout.next_line(span.end)
        if offset is None:
            yield layout.insert(len(layout.text), f"{layout.newline}{indentation}{content}")
        else:
            yield layout.insert(offset, f"{indentation}{content}{layout.newline}")
