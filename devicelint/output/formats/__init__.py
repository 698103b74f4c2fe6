"""The formats there are; the module of each is imported where it is asked for."""

from __future__ import annotations

from importlib import import_module

from devicelint.output.reporter import ReportContext, Reporter

FORMATS = {
    "text": "text.TextReporter",
    "concise": "concise.ConciseReporter",
    "agent": "agent.AgentReporter",
    "json": "json.JsonReporter",
    "json-lines": "json_lines.JsonLinesReporter",
    "github": "github.GithubReporter",
    "gitlab": "gitlab.GitlabReporter",
    "sarif": "sarif.SarifReporter",
    "junit": "junit.JunitReporter",
    "rdjson": "rdjson.RdjsonReporter",
}
"""The name of each format, with its module and its class."""

FOR_PEOPLE = frozenset({"text", "concise"})


def reporter(name: str, context: ReportContext) -> Reporter:
    """Return a new reporter of a format."""
    module, _, class_name = FORMATS[name].partition(".")
    made: Reporter = getattr(import_module(f"{__name__}.{module}"), class_name)(context)
    return made
