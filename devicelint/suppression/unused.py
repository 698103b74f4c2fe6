"""The comments that suppress nothing: what they say is no longer so, or never was.

Whether a comment is of use is known only of rules that have been checked.  Those that the comments
of a file name are therefore checked there, whatever the settings select, and not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from devicelint.finding import REVEALED, Edit, Finding, Fix, Severity, Span
from devicelint.rule_index import all_facts
from devicelint.text.noqa import Suppression
from devicelint.text.selectors import specificity
from devicelint.text.source import SourceFile

CODE = "DEV901"
NAME = "unused-suppression"
_NEVER_UNUSED = frozenset({REVEALED, CODE})
"""Nobody suppresses these for what they find."""

_NEXT_PART = re.compile(r"\s+(?=#(?!\d))|\Z")
"""What another tool reads in the same comment; `#12` is part of a reason."""


def named_rules(source: SourceFile) -> frozenset[str]:
    """The rules that have to be checked to know of each comment whether it is of use."""
    words = (word for each in source.suppressions() for word in _words(each))
    return frozenset(code for word in words for code in _meant(word))


def unused(
    source: SourceFile, found: Sequence[Finding], checked: frozenset[str], unheard: frozenset[str]
) -> Iterator[Finding]:
    """The comments that suppress none of what was found, and of which that is sure.

    `checked` are the rules that have looked, `unheard` those of them that the settings keep from
    being reported in this file.
    """
    for suppression in source.suppressions():
        line = source.position(suppression.comment.start).line
        if not _insists(source.suppressions_of(line)):
            near = [each for each in found if line in source.lines_that_speak_for(each.span)]
            useless = [
                number
                for number, word in enumerate(_words(suppression))
                if (meant := _meant(word) & checked)
                and not meant & unheard
                and not any(each.code in meant for each in near)
            ]
            if useless:
                yield _finding(source, suppression, useless)


def _words(suppression: Suppression) -> Sequence[str]:
    """What a comment names: an empty word for all rules, nothing for a plain `# noqa`."""
    if suppression.selectors is not None:
        return [word for word, _ in suppression.selectors]
    return [""] if suppression.known_to_us else []


def _meant(word: str) -> frozenset[str]:
    """The rules that a comment suppresses by a word; none, where it is for another tool."""
    return frozenset(
        rule.code
        for rule in all_facts()
        if not word or specificity(word, rule.code, rule.name)
        if rule.code not in _NEVER_UNUSED
    )


def _insists(on_one_line: Iterable[Suppression]) -> bool:
    """Whether a line says that its comments may be of no use."""
    words = (word for one in on_one_line for word in _words(one))
    return any(specificity(word, CODE, NAME) >= len("DEV9") for word in words)


def _finding(source: SourceFile, suppression: Suppression, useless: Sequence[int]) -> Finding:
    selectors = suppression.selectors or ()
    if len(useless) >= len(selectors):
        span = suppression.written
        message = f"`{source.text[span.start : span.end]}` suppresses nothing"
        fix = Fix("Remove it", (_without(source, suppression),))
    else:
        words = ", ".join(selectors[number][0] for number in useless)
        span = Span(selectors[useless[0]][1].start, selectors[useless[-1]][1].end)
        message = f"{words} suppress{'es' * (len(useless) == 1)} nothing"
        fix = Fix(f"Remove {words}", tuple(_pruned(selectors, useless)))
    return Finding(CODE, NAME, Severity.NOTE, message, span, fix=fix)


def _pruned(selectors: Sequence[tuple[str, Span]], useless: Sequence[int]) -> Iterator[Edit]:
    """Take words out of a list, each with the comma before it, or else after it."""
    is_kept = False
    for number, (_, span) in enumerate(selectors):
        if number not in useless:
            is_kept = True
        elif is_kept:
            yield Edit(Span(selectors[number - 1][1].end, span.end), "")
        else:
            yield Edit(Span(span.start, selectors[number + 1][1].start), "")


def _without(source: SourceFile, suppression: Suppression) -> Edit:
    """Take out what suppresses, and the reason that follows: with the comment, if that is all."""
    text, comment = source.text, suppression.comment
    start, end = suppression.written.start, suppression.written.end
    next_part = _NEXT_PART.search(text, end, comment.end)
    assert next_part is not None
    if text[comment.start : start].strip("# \t"):
        start = comment.start + len(text[comment.start : start].rstrip())
        return Edit(Span(start, next_part.start()), "")
    if next_part.end() < comment.end:
        return Edit(Span(comment.start, next_part.end()), "")
    line = source.position(comment.start).line
    begin = source.offset(line, 0)
    code = text[begin : comment.start].rstrip()
    if code:
        return Edit(Span(begin + len(code), comment.end), "")
    is_last = line == source.lines
    return Edit(Span(begin, comment.end if is_last else source.offset(line + 1, 0)), "")
