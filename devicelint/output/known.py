"""The sentences about existing findings: hidden, suppressed, stale, and written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from devicelint.linter.baseline import Key
from devicelint.output.summary import number
from devicelint.output.visible import printable

Entries = Mapping[str, Counter[Key]]


def hidden(findings: int, path: str) -> str:
    """Say how many findings a baseline hides; nothing where it hides none."""
    return printable(f"Hid {number(findings, 'finding')} listed in {path}") * bool(findings)


def unchanged(findings: int, revision: str) -> str:
    """Say how many findings only unchanged lines have."""
    return printable(f"Hid {number(findings, 'finding')} on lines unchanged since {revision}")


def suppressed(findings: int, files: int, *, would: bool) -> str:
    """Say how many findings comments suppress from now on."""
    verb = "Would suppress" if would else "Suppressed"
    if not findings:
        return f"{verb} nothing"
    return f"{verb} {number(findings, 'finding')} in {number(files, 'file')}"


def stale(entries: Entries, path: str, *, in_detail: bool) -> Iterator[str]:
    """Say how many findings of a baseline are stale, and then which."""
    total = _total(entries)
    if not total:
        return
    yield printable(
        f"{path} lists {number(total, 'stale finding')};"
        f" --write-baseline {path} removes {'it' if total == 1 else 'them'}"
    )
    for name, each in sorted(entries.items() if in_detail else ()):
        for code, count in sorted(_by_code(each).items()):
            yield printable(f"{name}: {count} {code} stale")


def written(before: Entries, after: Entries, path: str) -> str:
    """Say what a baseline lists now, and how much less or more that is."""
    files = sum(bool(entries) for entries in after.values())
    was, now = _total(before), _total(after)
    text = f"{path} lists {number(now, 'finding') or 'no findings'}"
    text += f" in {number(files, 'file')}" if files else ""
    return printable(f"{text}, {was} before" if before and was != now else text)


def _total(entries: Entries) -> int:
    return sum(each.total() for each in entries.values())


def _by_code(entries: Counter[Key]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for key, count in entries.items():
        counted[key.code] += count
    return counted
