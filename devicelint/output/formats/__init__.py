"""The formats there are; each is a module with a class `Report`, imported where it is asked for."""

from __future__ import annotations

from importlib import import_module

from devicelint.output.report import Report, Scene

FORMATS = {
    "text": "text",
    "concise": "concise",
    "json": "json",
    "json-lines": "json_lines",
    "github": "github",
    "gitlab": "gitlab",
    "sarif": "sarif",
    "junit": "junit",
    "rdjson": "rdjson",
}
"""The name of each format, and its module."""

FOR_PEOPLE = frozenset({"text", "concise"})


def report(name: str, scene: Scene) -> Report:
    """Return a new report in a format."""
    made: Report = import_module(f"{__name__}.{FORMATS[name]}").Report(scene)
    return made
