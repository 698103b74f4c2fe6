"""What `--fix` did and left, and why: one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from devicelint.finding import REVEALED, Finding, Span
from devicelint.output.visible import printable
from devicelint.text.source import SourceFile

if TYPE_CHECKING:
    from devicelint.linter.lint import Fixed

UNSAFE = "its fix is unsafe: apply it with --unsafe-fixes"
SUPPRESSED = "a comment suppresses it"
ENDLESS = "the fixes did not converge"


def done(fixed: Fixed) -> Iterator[str]:
    """What was fixed, at the places of the text that was checked first."""
    lines = (
        _line(fixed.before, place, "fixed", finding, finding.fix.message if finding.fix else "")
        for finding, place in sorted(
            zip(fixed.applied, fixed.places, strict=True), key=lambda pair: pair[1]
        )
    )
    yield from dict.fromkeys(lines)


def left(fixed: Fixed, unsafe_fixes: bool) -> Iterator[str]:
    """What was not fixed, and why, at the places of the text that is there now."""
    return _not_fixed(
        fixed,
        {
            finding: why_not(fixed, finding, unsafe_fixes)
            for finding in fixed.remaining
            if finding.code != REVEALED
        },
    )


def rolled_back(fixed: Fixed) -> Iterator[str]:
    """The fixes that would not have helped, or would have done harm, and which."""
    return _not_fixed(fixed, {each: fixed.reasons[each] for each in fixed.rolled_back})


def suppressed(fixed: Fixed) -> Iterator[str]:
    """What comments suppress."""
    return _not_fixed(fixed, dict.fromkeys(fixed.suppressed, SUPPRESSED))


def _not_fixed(fixed: Fixed, why: Mapping[Finding, str]) -> Iterator[str]:
    lines = (
        _line(fixed.after, finding.span, "not fixed", finding, reason)
        for finding, reason in sorted(why.items(), key=lambda pair: pair[0].span)
    )
    yield from dict.fromkeys(lines)


def why_not(fixed: Fixed, finding: Finding, unsafe_fixes: bool) -> str:
    """Why a finding that remains was not fixed."""
    if finding.fix is None:
        return finding.unfixed or "no fix is known"
    if finding in fixed.reasons:
        return fixed.reasons[finding]
    if finding.fix.safety.value == "unsafe" and not unsafe_fixes:
        return f"{UNSAFE} ({finding.fix.message})"
    return ENDLESS


def _line(source: SourceFile, place: Span, verb: str, finding: Finding, reason: str) -> str:
    location = source.location(place.start)
    return printable(f"{source.path}:{location}: {verb} {finding.code}: {reason}")
