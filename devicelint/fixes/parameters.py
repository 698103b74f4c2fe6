"""A change of what a function takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from devicelint.finding import Edit
from devicelint.fixes.bindings import name_of_torch
from devicelint.fixes.change import Change
from devicelint.fixes.layout import Layout, NotFixable

_OPTIONAL = re.compile(r"^from typing import .*\bOptional\b", re.MULTILINE)
_UNIONS = re.compile(r"\| None\b|^from __future__ import .*\bannotations\b", re.MULTILINE)
"""What shows that a union may be written with a bar."""


@dataclass(frozen=True)
class AddParameter(Change):
    """Gives a function the parameter `name=default`, after all that it has but `**more`.

    It is laid out as the parameter before it is.
    """

    site: cst.FunctionDef
    name: str
    default: str = "None"

    def sites(self) -> Iterable[cst.CSTNode]:
        """The parameters, and the name before the parentheses."""
        yield self.site.name
        for one in self._parameters():
            yield from _parts(one)
            if isinstance(one.comma, cst.Comma):
                yield one.comma
        if isinstance(self.site.params.star_kwarg, cst.Param):
            yield self.site.params.star_kwarg

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One insertion."""
        annotation = self._annotation(layout)
        content = f"{self.name}: {annotation} = " if annotation else f"{self.name}="
        content += self.default
        rest = self.site.params.star_kwarg
        parameters = self._parameters()
        if rest is not None:
            start = layout.span(rest).start
            start -= layout.text[:start].endswith("**") * 2
            yield layout.insert(start, f"{content}, ")
        elif parameters and parameters[-1] in self.site.params.posonly_params:
            raise NotFixable("the function takes no keyword arguments")
        elif parameters:
            yield self._after(parameters[-1], content, layout)
        else:
            opening = layout.text.find("(", layout.span(self.site.name).end)
            if opening < 0:
                raise NotFixable("the function has no parentheses")
            yield layout.insert(opening + 1, content)

    def _annotation(self, layout: Layout) -> str:
        """What says that it is a device or None, where the other parameters are annotated."""
        torch = next(filter(None, map(name_of_torch, layout.module.body)), None)
        if torch is None or not any(one.annotation for one in self._parameters()):
            return ""
        if _OPTIONAL.search(layout.text):
            return f"Optional[{torch}.device]"
        union = f"{torch}.device | None"
        return union if _UNIONS.search(layout.text) else f'"{union}"'

    def _parameters(self) -> Sequence[cst.Param]:
        """All but `**more`, in the order of the text."""
        own = self.site.params
        star = (own.star_arg,) if isinstance(own.star_arg, cst.Param) else ()
        return (*own.posonly_params, *own.params, *star, *own.kwonly_params)

    @staticmethod
    def _after(last: cst.Param, content: str, layout: Layout) -> Edit:
        span = layout.span(last)
        has_comma = isinstance(last.comma, cst.Comma)
        end = max(layout.span(part).end for part in _parts(last))
        if isinstance(last.comma, cst.Comma):
            end = layout.span(last.comma).end
        is_alone = not layout.slice(layout.line_start(span.start), span.start).strip()
        if not is_alone:
            return layout.insert(end, f" {content}," if has_comma else f", {content}")
        line = f"{layout.newline}{layout.indentation(span.start)}{content}"
        if has_comma:
            return layout.insert(layout.line_end(end), f"{line},")
        return layout.insert(end, f",{line}")


def _parts(parameter: cst.Param) -> Iterator[cst.CSTNode]:
    """A parameter's name, its annotation and its default: each has a place of its own."""
    yield parameter
    if parameter.annotation is not None:
        yield parameter.annotation.annotation
    if parameter.default is not None:
        yield parameter.default
