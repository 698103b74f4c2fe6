"""The format for code scanning: SARIF 2.1.0, an OASIS standard.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from devicelint import __version__
from devicelint.config import ConfigError
from devicelint.finding import FAILS_HERE, REVEALED, Finding, Fix, InputError, Location
from devicelint.output import reporter
from devicelint.output.ascii_json import ascii_json
from devicelint.output.formats.sarif_places import SarifPlaces, base_ids
from devicelint.output.formats.sarif_rules import LEVELS, rules
from devicelint.output.identity import HashedLines, fingerprints
from devicelint.output.rule_help import documentation
from devicelint.output.visible import printable
from devicelint.rule_index import all_facts

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class SarifReporter(reporter.Reporter):
    """One log with one run."""

    def __init__(self, context: reporter.ReportContext) -> None:
        """Nothing was found yet."""
        super().__init__(context)
        self._results: list[str] = []
        self._invocation: dict[str, Any] = {
            "executionSuccessful": True,
            "toolConfigurationNotifications": [],
            "toolExecutionNotifications": [],
        }
        self._rules = {facts.code: index for index, facts in enumerate(all_facts())}

    def file(self, checked: CheckResult) -> str:
        """Keep the findings of a file for the end, and what of it is passed over."""
        for note in checked.source.notes:
            self._notify("toolExecutionNotifications", "warning", note)
        if checked.findings:
            places = SarifPlaces(checked.source, self.context)
            lines = HashedLines(places.written.file)
            for finding, fingerprint in fingerprints(checked, places.name):
                result = self._result(places, finding)
                line = places.region(finding.span)["startLine"]
                result["partialFingerprints"] = {
                    "primaryLocationLineHash": lines.hash_of(line),
                    "deviceMistake/v1": fingerprint,
                }
                self._results.append(ascii_json(result))
        return ""

    def problem(self, problem: InputError) -> str:
        """Keep what could not be checked, or not understood, for the end."""
        self._invocation["executionSuccessful"] = False
        kind = "Configuration" if isinstance(problem, ConfigError) else "Execution"
        self._notify(f"tool{kind}Notifications", "error", problem)
        return ""

    def end(self) -> str:
        """Return the log."""
        about = {"informationUri": uri} if (uri := documentation()) else {}
        driver: dict[str, Any] = {"name": "devicelint", "semanticVersion": __version__, **about}
        driver["rules"] = list(rules())
        run = {
            "tool": {"driver": driver},
            "columnKind": "utf16CodeUnits",
            "newlineSequences": ["\r\n", "\n", "\r"],
            "originalUriBaseIds": base_ids(self.context),
            "invocations": [self._invocation],
        }
        head = ascii_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})
        # A result on a line each: a large log is twice as large with all of it spread out.
        return (
            head.removesuffix("}]}") + ', "results": [\n' + ",\n".join(self._results) + "\n]}]}\n"
        )

    def _notify(self, kind: str, level: str, problem: InputError) -> None:
        location = {"physicalLocation": SarifPlaces.of_problem(problem, self.context)}
        message = problem.message
        if problem.cell is not None:
            message = f"{Location(problem.line, problem.column, problem.cell)}: {message}"
        notification = {"level": level, "message": _text(message), "locations": [location]}
        self._invocation[kind].append(notification)

    def _result(self, places: SarifPlaces, finding: Finding) -> dict[str, Any]:
        location: dict[str, Any] = {"physicalLocation": places.physical(finding.span, quoted=True)}
        properties = {"certainty": finding.certainty.value, "machine": finding.machine}
        cell = places.source.location(finding.span.start)
        if cell.cell is not None:
            location["logicalLocations"] = [{"fullyQualifiedName": cell.line_named}]
        result: dict[str, Any] = {
            "ruleId": finding.code,
            "level": LEVELS[finding.severity],
            "message": _text(finding.message),
            "locations": [location],
            "properties": {name: value for name, value in properties.items() if value},
        }
        if finding.code in self._rules:
            result["ruleIndex"] = self._rules[finding.code]
        if finding.code == REVEALED:
            result |= {"kind": "informational", "level": "none"}
        return result | _explained(places, finding) | _fixes_of(places, finding.fix)


def _explained(places: SarifPlaces, finding: Finding) -> dict[str, Any]:
    """Return the places that led to a finding, and how they did: where each device comes from."""
    related = list(_related(places, finding))
    if not related:
        return {}
    here = {"physicalLocation": places.physical(finding.span), "message": _text(finding.message)}
    before = [one for one in related if one["message"]["text"] != FAILS_HERE]
    after = [one for one in related if one["message"]["text"] == FAILS_HERE]
    steps = [{"location": one} for one in (*before, here, *after)]
    numbered = [{"id": number, **one} for number, one in enumerate(related, start=1)]
    return {"relatedLocations": numbered, "codeFlows": [{"threadFlows": [{"locations": steps}]}]}


def _related(places: SarifPlaces, finding: Finding) -> Iterator[dict[str, Any]]:
    for related in dict.fromkeys(finding.related):
        where = places.physical(related.span)
        yield {"physicalLocation": where, "message": _text(related.message)}
    for place in finding.elsewhere:
        where = places.physical_elsewhere(place)
        yield {"physicalLocation": where, "message": _text(place.message)}


def _fixes_of(places: SarifPlaces, fix: Fix | None) -> dict[str, Any]:
    """Return all edits of a fix, or nothing: half of them are no fix."""
    if fix is None:
        return {}
    changes = [places.change(fix.edits)]
    for changed in fix.elsewhere:
        source = places.context.read(changed.path)
        if source is None:
            return {}
        changes.append(SarifPlaces(source, places.context).change(changed.edits))
    if not all(change["replacements"] for change in changes):
        return {}
    properties = {"safety": fix.safety.value}
    description = {
        "description": _text(fix.message),
        "artifactChanges": changes,
        "properties": properties,
    }
    return {"fixes": [description]}


def _text(text: str) -> dict[str, str]:
    return {"text": printable(text)}
