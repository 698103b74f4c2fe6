"""The recorded files with what each line cost beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from _device_pages.markup import Html, element, joined
from runtime_guard.profiler.recording.recording import Recording
from runtime_guard.profiler.report.html.python_code import highlighted
from runtime_guard.profiler.report.mismatches import Misplaced
from runtime_guard.profiler.report.source import SourceLines, read_source
from runtime_guard.profiler.report.totals import Row
from runtime_guard.profiler.report.words import (
    amount,
    counted,
    duration,
    printable,
    short_path,
    size,
)

MOST_FILES = 40
MOST_CHARACTERS = 700_000
"""Of HTML, for all files: the costliest are whole, then come those of which the recorded lines
and their neighbours are shown, as long as there is room."""

CONTEXT = 3
WIDEST = 240
HEATS = 6


@dataclass(slots=True)
class Cost:
    """What was seen at one line."""

    rows: list[Row] = field(default_factory=list)
    devices: dict[str, dict[str, int]] = field(default_factory=dict)
    mismatches: list[Misplaced] = field(default_factory=list)

    @property
    def host_us(self) -> float:
        """How long threads of the host were in the calls of this line."""
        return sum(row.host_us for row in self.rows)


@dataclass(frozen=True, slots=True)
class File:
    """A recorded file; `anchor` is the beginning of its lines' identifiers in the page."""

    path: str
    anchor: str
    costs: dict[int, Cost]
    timed: bool = True
    """Whether its times say something: not those of a virtual GPU."""

    @property
    def host_us(self) -> float:
        """What its lines took together."""
        return sum(cost.host_us for cost in self.costs.values())


def files(
    rows: Sequence[Row], mismatches: Iterable[Misplaced], recordings: Sequence[Recording]
) -> list[File]:
    """Gather what was seen by file and line, the costliest file first."""
    found: dict[str, dict[int, Cost]] = {}
    for row in rows:
        _at(found, row.file, row.line).rows.append(row)
    for each in mismatches:
        if each.failed_at:
            _at(found, each.failed_at.file, each.failed_at.line).mismatches.append(each)
    for recording in recordings:
        for (path, line, name), devices in recording.values.items():
            # Names are shown where something else is: every line of a loop has some.
            if line in found.get(path, ()):
                seen = found[path][line].devices.setdefault(name, {})
                for device, count in devices.items():
                    seen[device] = seen.get(device, 0) + count
    costly = sorted(found, key=lambda path: -sum(cost.host_us for cost in found[path].values()))
    timed = not any(recording.header.virtual for recording in recordings)
    return [
        File(path, f"f{number}", found[path], timed)
        for number, path in enumerate(costly[:MOST_FILES])
    ]


def sections(found: Sequence[File], started: float) -> tuple[Html, list[File]]:
    """Write the files, and say which of them there was room for.

    Args:
        found: the costliest first.
        started: when the run was, to know what has changed since.
    """
    hottest = max((cost.host_us for file in found for cost in file.costs.values()), default=0.0)
    parts: list[Html] = []
    shown: list[File] = []
    room = MOST_CHARACTERS
    for file in found:
        source = read_source(file.path)
        is_short = sum(map(len, source.lines)) < room
        for whole in (True, False) if is_short else (False,):
            part = _section(file, source, hottest, whole=whole, started=started)
            if len(part.text) <= room:
                parts.append(part)
                shown.append(file)
                room -= len(part.text)
                break
    left_out = len(found) - len(parts)
    more = element("p", f"and {counted(left_out, 'more file')}", class_="note")
    return joined(*parts, more if left_out else None), shown


def anchors(shown: Iterable[File]) -> dict[tuple[str, int], str]:
    """The identifiers of the lines that are in the page."""
    return {(file.path, line): f"{file.anchor}-{line}" for file in shown for line in file.costs}


def _at(found: dict[str, dict[int, Cost]], path: str, line: int) -> Cost:
    return found.setdefault(path, {}).setdefault(line, Cost())


def _section(
    file: File, source: SourceLines, hottest: float, *, whole: bool, started: float
) -> Html:
    note = _note(file, source, started)
    heading = element(
        "h3",
        element("span", short_path(file.path), class_="path", title=printable(file.path)),
        element("span", duration(file.host_us), class_="aside") if file.timed else None,
    )
    head = element(
        "thead",
        element(
            "tr",
            *(
                element("th", name, scope="col", class_=kind)
                for name, kind in _COLUMNS
                if file.timed or kind != "time"
            ),
        ),
    )
    kind = "source timed" if file.timed else "source"
    table = element("table", head, *_bodies(file, source, hottest, whole), class_=kind)
    return element(
        "section",
        heading,
        element("p", note, class_="note") if note else None,
        element("div", table, class_="scroll", tabindex=0, role="region", aria_label=file.path),
        class_="file",
    )


_COLUMNS = (
    ("Time", "time"),
    ("Count", "count"),
    ("Bytes", "bytes"),
    ("Line", "number"),
    ("Source", "code"),
)


def _note(file: File, source: SourceLines, started: float) -> str:
    if not source.lines:
        return "The file is not where it was: only the recorded lines are shown."
    if source.modified > started > 0:
        return "The file has changed since the run: lines may have moved."
    if max(file.costs) > len(source.lines):
        return "The file is shorter than it was in the run: lines may have moved."
    return ""


def _bodies(file: File, source: SourceLines, hottest: float, whole: bool) -> Iterator[Html]:
    """Groups of lines: those about which something is known, with their neighbours, and others."""
    texts = highlighted([line[:WIDEST] for line in source.lines])
    for numbers, quiet in _groups(sorted(file.costs), len(texts)):
        if quiet and not whole:
            yield element("tbody", _gap(numbers, file.timed), class_="gap")
            continue
        rows = []
        for number in numbers:
            text = texts[number - 1] if 0 < number <= len(texts) else Html("")
            rows.append(_line(file, number, text, hottest))
        yield element("tbody", *rows, class_="quiet" if quiet else None)


def _groups(known: Sequence[int], length: int) -> Iterator[tuple[range | list[int], bool]]:
    """Split 1..length into runs near known lines and runs that are not."""
    near = {
        number
        for line in known
        for number in range(max(1, line - CONTEXT), min(length, line + CONTEXT) + 1)
    }
    numbers = sorted(near | set(known))
    before = 0
    group: list[int] = []
    for number in numbers:
        if number > before + 1:
            if group:
                yield group, False
                group = []
            if before < length:
                yield range(before + 1, min(number, length + 1)), True
        group.append(number)
        before = number
    if group:
        yield group, False
    if before < length:
        yield range(before + 1, length + 1), True


def _gap(numbers: range | list[int], timed: bool) -> Html:
    text = f"lines {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"line {numbers[0]}"
    return element("tr", *[element("td")] * (3 + timed), element("td", text, class_="code"))


def _line(file: File, number: int, text: Html, hottest: float) -> Html:
    cost = file.costs.get(number)
    numbered = element("th", str(number), scope="row", class_="number")
    if cost is None:
        return element(
            "tr", *[element("td")] * (2 + file.timed), numbered, element("td", text, class_="code")
        )
    heat = math.ceil(HEATS * math.sqrt(cost.host_us / hottest)) if hottest and file.timed else 0
    time = element("td", duration(cost.host_us) if cost.rows else "", class_="time")
    code = element("td", text, _chips(cost), *map(_callout, cost.mismatches), class_="code")
    return element(
        "tr",
        time if file.timed else None,
        element("td", amount(sum(row.count for row in cost.rows)) if cost.rows else ""),
        element("td", size(sum(row.bytes for row in cost.rows)) if cost.rows else ""),
        numbered,
        code,
        id=f"{file.anchor}-{number}",
        class_=f"known heat-{heat}",
        title=_title(cost),
    )


def _title(cost: Cost) -> str | None:
    calls = (f"{printable(row.op)}, {amount(row.count)} times" for row in cost.rows)
    return "\n".join(calls) or None


def _chips(cost: Cost) -> Html | None:
    if not cost.devices:
        return None
    return element("span", *(_chip(*each) for each in sorted(cost.devices.items())), class_="chips")


def _chip(name: str, devices: dict[str, int]) -> Html:
    several = len(devices) > 1
    where = sorted(devices, key=lambda device: -devices[device])
    counts = "\n".join(f"{amount(devices[device])} times on {device}" for device in where)
    return element(
        "span",
        element("b", printable(name)),
        *(
            element("span", f" {printable(device)}", class_=_device_class(device))
            for device in where
        ),
        class_="chip several" if several else "chip",
        title=counts,
    )


def _device_class(device: str) -> str:
    return "cpu" if device == "cpu" else "accelerator"


def _callout(each: Misplaced) -> Html:
    return element(
        "span",
        element("b", "Mismatch: "),
        f"{each.what}, expected on {each.expected}.",
        f" {each.advice}" if each.advice else None,
        class_="callout",
    )
