"""The format for test reports, of Jenkins, GitLab and others: JUnit's XML.

A file is a suite; a finding is a test that failed, and a file without any is one that passed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from devicelint.finding import REVEALED, Finding, InputError
from devicelint.output import reporter
from devicelint.output.formats.text import render_finding
from devicelint.output.reporter import UNCHECKED
from devicelint.output.visible import printable
from devicelint.text.source import SourceFile

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult

_COUNTED = ("failure", "error")


class JunitReporter(reporter.Reporter):
    """One document with a suite for each file."""

    def __init__(self, context: reporter.ReportContext) -> None:
        """Nothing was checked yet."""
        super().__init__(context)
        self._suites: list[Element] = []

    def file(self, checked: CheckResult) -> str:
        """Keep a file for the end."""
        suite = self._suite(checked.source.path)
        met = Counter[str]()
        for finding in checked.findings:
            met[finding.code] += 1
            _finding(suite, checked.source, finding, met[finding.code])
        if not checked.findings:
            _case(suite, "devicelint")
        return ""

    def problem(self, problem: InputError) -> str:
        """Keep what could not be checked for the end."""
        case = _case(self._suite(problem.path), UNCHECKED)
        text = printable(str(problem))
        message = printable(problem.message)
        SubElement(case, "error", type=UNCHECKED, message=message).text = text
        return ""

    def end(self) -> str:
        """Return the document."""
        document = Element("testsuites", name="devicelint")
        document.extend(self._suites)
        for suite in (*self._suites, document):
            suite.set("tests", str(sum(1 for _ in suite.iter("testcase"))))
            for kind in _COUNTED:
                suite.set(f"{kind}s", str(sum(1 for _ in suite.iter(kind))))
        indent(document)
        # ASCII only: the terminal's encoding must not decide whether the output is XML.
        return f"<?xml version='1.0' encoding='utf-8'?>\n{tostring(document).decode('ascii')}\n"

    def _suite(self, path: str) -> Element:
        self._suites.append(Element("testsuite", name=printable(path), time="0"))
        return self._suites[-1]


def _finding(suite: Element, source: SourceFile, finding: Finding, number: int) -> None:
    # Without its line, so that a test is the same one in the next run.
    which = f" {number}" if number > 1 else ""
    case = _case(suite, f"{finding.code} {finding.name}{which}")
    text = render_finding(source, finding)
    if finding.code == REVEALED:
        SubElement(case, "system-out").text = text
        return
    line = source.location(finding.span.start).line_text
    message = f"line {line}: {printable(finding.message)}"
    SubElement(case, "failure", type=finding.severity.value, message=message).text = text


def _case(suite: Element, name: str) -> Element:
    return SubElement(suite, "testcase", name=name, classname=suite.get("name", ""), time="0")
