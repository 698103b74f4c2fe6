"""Whatever a file says, and wherever a finding is in it: programs find the place and the fix."""

import json
import re
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from devicelint.finding import Edit, Fix, Span
from devicelint.linter.result import CheckResult
from devicelint.text.edits import apply
from devicelint.text.source import SourceFile
from tests.output import samples
from tests.output.readers import command, fixed_text, quoted, taken

CHARACTERS = st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x85\u2028é\U0001f600%:,]>&\\\"'\0\ufeff")
TEXTS = st.text(CHARACTERS, max_size=40)


@st.composite
def findings(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> CheckResult:
    """A text with a finding, whose fix has up to three edits of whole characters."""
    text = draw(texts)
    # No editor has a place between the two halves of a line end.
    halves = {match.start() + 1 for match in re.finditer("\r\n", text)}
    places = [place for place in range(len(text) + 1) if place not in halves]
    chosen = sorted(draw(st.lists(st.sampled_from(places), min_size=4, max_size=4)))
    spans = [Span(chosen[0], chosen[1]), Span(chosen[2], chosen[3])]
    edits = tuple(Edit(span, draw(st.sampled_from(["", "x", "é\n"]))) for span in spans)
    message = draw(TEXTS)
    fix = Fix("fix it", edits[draw(st.integers(0, 1)) :])
    source = SourceFile(text, f"{samples.ROOT}/x.py")
    return CheckResult(source, (samples.finding(spans[0], message=message or "x", fix=fix),))


def only(name: str, checked: CheckResult) -> Any:
    return json.loads(samples.written(name, [checked]))


def wanted(checked: CheckResult) -> str:
    (finding,) = checked.findings
    assert finding.fix is not None
    return apply(checked.source.text, finding.fix.edits)


@given(findings())
def test_sarif(checked):
    (result,) = only("sarif", checked)["runs"][0]["results"]
    text = checked.source.text
    region = result["locations"][0]["physicalLocation"]["region"]
    (finding,) = checked.findings
    assert quoted(text, region) == text[finding.span.start : finding.span.end]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert fixed_text(text, change) == wanted(checked)


@given(findings())
def test_rdjson(checked):
    (diagnostic,) = only("rdjson", checked)["diagnostics"]
    if "suggestions" in diagnostic and "\r" not in checked.source.text:
        applied_text = taken(checked.source.text, diagnostic)
        # Nothing is what becomes of lines that are suggested to be nothing.
        left = diagnostic["suggestions"][0]["text"] == ""
        assert applied_text == wanted(checked) or (
            left and applied_text.strip() == wanted(checked).strip()
        )


@given(findings())
def test_github(checked):
    log = samples.written("github", [checked])
    assert log.count("\n") == 1
    _, properties, _ = command(log.removesuffix("\n"))
    line = checked.source.position(checked.findings[0].span.start).line
    assert properties["line"] == str(line)


@given(findings())
def test_junit_and_gitlab(checked):
    assert ElementTree.fromstring(samples.written("junit", [checked])).get("failures") == "1"
    (issue,) = only("gitlab", checked)
    assert "\n" not in issue["description"]


COMMENTS = st.text(st.sampled_from('ab \t\u2028é\U0001f600\\"/%'), max_size=12)


@given(COMMENTS, st.integers(0, 12), st.booleans(), st.booleans())
def test_places_in_the_json_of_a_notebook(comment, place, as_lists, ascii_only):
    cell = f"import torch  # {comment}\nx = 1\n"
    raw = json.dumps(samples.notebook_of([cell], as_lists=as_lists), ensure_ascii=ascii_only)
    source = SourceFile.from_text(raw, f"{samples.ROOT}/n.ipynb")
    where = source.text.index("#") + 1 + min(place, len(comment))
    fix = Fix("fix it", (Edit(Span(where, where), "é"),))
    checked = CheckResult(source, (samples.finding(Span(where, where + 1), fix=fix),))
    (result,) = only("sarif", checked)["runs"][0]["results"]
    text = fixed_text(raw, result["fixes"][0]["artifactChanges"][0])
    (after,) = json.loads(text)["cells"]
    assert "".join(after["source"]) == f"{cell[:where]}é{cell[where:]}"
