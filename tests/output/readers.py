"""What programs do with a report: find a place, read an annotation, make a fix."""

from __future__ import annotations

from typing import Any

from devicelint.finding import Edit, Span
from devicelint.text.edits import apply

COMMANDS = {"error", "warning", "notice"}


def command(line: str) -> tuple[str, dict[str, str], str]:
    """Read a line as the runner of GitHub Actions does."""
    assert line.startswith("::")
    told, message = line[2:].split("::", 1)
    name, _, properties = told.partition(" ")
    assert name in COMMANDS
    pairs = (each.split("=", 1) for each in properties.split(",") if each)
    return name, {key: unescaped(value, ":,") for key, value in pairs}, unescaped(message)


def unescaped(text: str, more: str = "") -> str:
    for character in ("\r", "\n", *more, "%"):
        text = text.replace(f"%{ord(character):02X}", character)
    return text


def offset(text: str, line: int, column: int) -> int:
    """Where a line and a column of UTF-16 are, by the standard's own words."""
    position = 0
    for _ in range(line - 1):
        ends = [
            (text.find(end, position), len(end))
            for end in ("\r\n", "\n", "\r")
            if text.find(end, position) >= 0
        ]
        start, length = min(ends, key=lambda end: (end[0], -end[1]))
        position = start + length
    units = text[position:].encode("utf-16-le")[: 2 * (column - 1)]
    return position + len(units.decode("utf-16-le"))


def quoted(text: str, region: dict[str, Any]) -> str:
    start = offset(text, region["startLine"], region["startColumn"])
    return text[start : offset(text, region["endLine"], region["endColumn"])]


def fixed_text(text: str, change: dict[str, Any]) -> str:
    edits = [
        Edit(
            Span(
                offset(text, region["startLine"], region["startColumn"]),
                offset(text, region["endLine"], region["endColumn"]),
            ),
            replacement["insertedContent"]["text"],
        )
        for replacement in change["replacements"]
        for region in [replacement["deletedRegion"]]
    ]
    return apply(text, edits)


def taken(text: str, diagnostic: dict[str, Any]) -> str:
    """The text after the suggestion was taken, which replaces whole lines that are commented on."""
    (suggestion,) = diagnostic["suggestions"]
    where, place = suggestion["range"], diagnostic["location"]["range"]
    assert (where["start"].keys(), where["end"].keys()) == ({"line"}, {"line"})
    assert (where["start"]["line"], where["end"]["line"]) == (
        place["start"]["line"],
        place["end"]["line"],
    )
    lines = text.split("\n")
    end = "\r" * lines[where["end"]["line"] - 1].endswith("\r")
    lines[where["start"]["line"] - 1 : where["end"]["line"]] = [suggestion["text"] + end]
    return "\n".join(lines)
