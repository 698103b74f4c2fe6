"""The sentences about what is known of old code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from devicelint.linter.baseline import Key
from devicelint.output.summary import number
from devicelint.output.visible import printable

Entries = Mapping[str, Counter[Key]]


def kept_back(findings: int, path: str) -> str:
    """Say how many findings a baseline knows; nothing where it knows none."""
    return printable(f"Kept back {number(findings, 'finding')} that {path} knows") * bool(findings)


def unchanged(findings: int, revision: str) -> str:
    """Say how many findings only unchanged lines have."""
    told = f"Kept back {number(findings, 'finding')} on lines that are as they were in {revision}"
    return printable(told)


def suppressed(findings: int, files: int, *, would: bool) -> str:
    """Say how many findings comments keep back from now on."""
    verb = "Would suppress" if would else "Suppressed"
    if not findings:
        return f"{verb} nothing"
    return f"{verb} {number(findings, 'finding')} in {number(files, 'file')}"


def stale(entries: Entries, path: str, *, in_detail: bool) -> Iterator[str]:
    """Say how much of a baseline is of no use any more, and then what."""
    total = _total(entries)
    if not total:
        return
    yield printable(
        f"{path} knows {number(total, 'finding')} that {'is' if total == 1 else 'are'} found no"
        f" more; --write-baseline {path} takes {'it' if total == 1 else 'them'} out"
    )
    for name, each in sorted(entries.items() if in_detail else ()):
        for code, count in sorted(_by_code(each).items()):
            yield printable(f"{name}: {count} {code} found no more")


def written(before: Entries, after: Entries, path: str) -> str:
    """Say what a baseline knows now, and how much less or more that is."""
    files = sum(bool(entries) for entries in after.values())
    was, now = _total(before), _total(after)
    told = f"{path} knows {number(now, 'finding') or 'no findings'}"
    told += f" in {number(files, 'file')}" if files else ""
    return printable(f"{told}, {was} before" if before and was != now else told)


def _total(entries: Entries) -> int:
    return sum(each.total() for each in entries.values())


def _by_code(entries: Counter[Key]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for key, count in entries.items():
        counted[key.code] += count
    return counted
