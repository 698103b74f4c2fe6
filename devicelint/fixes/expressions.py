"""Changes of expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from devicelint.finding import Edit, Span
from devicelint.fixes.change import Change
from devicelint.fixes.layout import Layout

_BINDS_LOOSER_THAN_A_TRAILER = (
    cst.Await,
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.IfExp,
    cst.Integer,  # `1.cpu()` is a malformed number
    cst.Lambda,
    cst.UnaryOperation,
)
_BARE_IN_SOME_PLACES = (cst.GeneratorExp, cst.NamedExpr, cst.Tuple, cst.Yield)
_HOLDERS_OF_A_VALUE = (cst.Arg, cst.Element, cst.StarredElement, cst.DictElement, cst.Index)


@dataclass(frozen=True)
class _AtOneSite(Change):
    """A change that needs to know where one node stands."""

    site: cst.CSTNode

    def sites(self) -> Iterable[cst.CSTNode]:
        yield from (self.site, _value(self.site))


@dataclass(frozen=True)
class Replace(_AtOneSite):
    """Puts `content` in the place of `site` and of its parentheses."""

    content: str

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One edit, over the whole site."""
        span = layout.span(self.site)
        yield Edit(span, layout.quoted(self.content, span.start))


@dataclass(frozen=True)
class InsertBefore(_AtOneSite):
    """Puts `content` before `site`, as it is."""

    content: str

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One insertion."""
        start = layout.span(self.site).start
        yield layout.insert(start, layout.quoted(self.content, start))


@dataclass(frozen=True)
class InsertAfter(_AtOneSite):
    """Puts `content` after `site`.

    Where `content` is a trailer (`.cpu()`, `[0]`, `()`), an expression that it would not apply to
    as a whole, such as `a + b`, gets parentheses. That of an argument or an element applies to
    its value: `*args` becomes `*args.cpu()`.
    """

    content: str

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One insertion, and one for an opening parenthesis."""
        value = _value(self.site)
        span = layout.span(value)
        content = layout.quoted(self.content, span.end)
        if content.startswith((".", "[", "(")) and _needs_parentheses(
            value, _BINDS_LOOSER_THAN_A_TRAILER
        ):
            yield layout.insert(span.start, "(")
            content = f"){content}"
        yield layout.insert(span.end, content)


@dataclass(frozen=True)
class WrapInCall(_AtOneSite):
    """Makes `site` the only argument of a call of `function`."""

    function: str

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """An insertion on either side."""
        value = _value(self.site)
        span = layout.span(value)
        extra = _needs_parentheses(value)
        yield layout.insert(span.start, f"{layout.quoted(self.function, span.start)}({'(' * extra}")
        yield layout.insert(span.end, f"{')' * extra})")


@dataclass(frozen=True)
class Keep(_AtOneSite):
    """Reduces `site` to `part`, an expression within it: `optimizer` of `optimizer.to("cuda")`.

    The parentheses of both stay.
    """

    part: cst.BaseExpression

    def sites(self) -> Iterable[cst.CSTNode]:
        """The site, the part, and the parentheses of the site."""
        yield from (self.site, self.part, *getattr(self.site, "lpar", ()))
        yield from getattr(self.site, "rpar", ())

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """A deletion on either side of the part, where there is anything."""
        part = layout.span(self.part)
        inner = _within_parentheses(self.site, layout)
        for span in (Span(inner.start, part.start), Span(part.end, inner.end)):
            if span.start < span.end:
                yield Edit(span, "")


def _value(site: cst.CSTNode) -> cst.CSTNode:
    return site.value if isinstance(site, _HOLDERS_OF_A_VALUE) else site


def _needs_parentheses(node: cst.CSTNode, kinds: tuple[type[cst.BaseExpression], ...] = ()) -> bool:
    return isinstance(node, (*kinds, *_BARE_IN_SOME_PLACES)) and not getattr(node, "lpar", ())


def _within_parentheses(node: cst.CSTNode, layout: Layout) -> Span:
    span = layout.span(node)
    opening, closing = getattr(node, "lpar", ()), getattr(node, "rpar", ())
    return Span(
        layout.span(opening[-1]).end if opening else span.start,
        layout.span(closing[0]).start if closing else span.end,
    )
