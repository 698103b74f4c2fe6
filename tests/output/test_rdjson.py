"""reviewdog: the schema of its format, and what it does with a suggestion."""

import json
from typing import Any

import jsonschema
import pytest

from devicelint.finding import Edit, Fix, Span
from devicelint.linter.result import CheckResult
from devicelint.text.edits import apply
from devicelint.text.source import SourceFile
from tests.output import samples
from tests.output.readers import taken
from tests.output.samples import ROOT, SCHEMAS


def diagnostics(*files: CheckResult, problems=()) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(samples.written("rdjson", files, problems))[
        "diagnostics"
    ]
    return found


@pytest.mark.parametrize("text", [samples.everything("rdjson"), samples.written("rdjson", [])])
def test_a_report_is_valid(text):
    schema = json.loads((SCHEMAS / "rdjson.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(json.loads(text))
    assert json.loads(text).keys() == {"source", "severity", "diagnostics"}


def test_columns_count_bytes():
    first, _ = diagnostics(samples.awkward())
    assert first["location"]["range"] == {
        "start": {"line": 3, "column": 27},
        "end": {"line": 3, "column": 32},
    }


def test_a_suggestion_makes_of_the_text_what_devicelint_makes():
    checked = samples.awkward()
    for finding, diagnostic in zip(checked.findings, diagnostics(checked), strict=True):
        assert finding.fix is not None
        assert taken(samples.AWKWARD, diagnostic) == apply(samples.AWKWARD, finding.fix.edits)


BELOW = "a = 1\r\nb = 2\r\nuse(a)\r\nc = 3\r\n"


def suggested(edit: Edit, text: str = BELOW) -> dict[str, Any]:
    source = SourceFile.from_text(text, "x.py")
    found = samples.finding(samples.span(text, "use(a)"), fix=Fix("fix", (edit,)))
    (diagnostic,) = diagnostics(CheckResult(source, (found,)))
    return diagnostic


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (Edit(Span(7, 7), "a = a.to(d)\r\n"), (2, 3)),
        (Edit(Span(14, 22), ""), (3, 3)),
        (Edit(Span(22, 22), "del a\r\n"), (3, 4)),
    ],
)
def test_a_comment_covers_the_lines_of_its_suggestion(edit, lines):
    diagnostic = suggested(edit)
    place = diagnostic["location"]["range"]
    assert (place["start"]["line"], place["end"]["line"]) == lines
    if edit.content:
        assert taken(BELOW, diagnostic) == apply(BELOW, [edit])
    else:
        assert diagnostic["suggestions"][0]["text"] == ""


def test_a_fix_far_away_is_told_and_not_suggested():
    text = "import torch\n" + "x = 1\n" * 30 + "use(a)"
    diagnostic = suggested(Edit(Span(0, 0), "import os\n"), text)
    assert "suggestions" not in diagnostic
    assert diagnostic["location"]["range"]["start"] == {"line": 32, "column": 1}
    assert diagnostic["message"].endswith("\nfix: fix (safe)")


def test_a_fix_at_the_end_of_a_file_without_a_newline():
    text = "x = 1\nuse(a)"
    diagnostic = suggested(Edit(Span(12, 12), ".cpu()"), text)
    assert taken(text, diagnostic) == "x = 1\nuse(a).cpu()"


def test_half_of_a_fix_is_not_suggested():
    checked, _ = samples.across()
    (diagnostic,) = diagnostics(checked)
    assert "suggestions" not in diagnostic


@pytest.mark.parametrize("checked", samples.NOTEBOOKS)
def test_a_notebook_is_commented_on_in_its_json(checked):
    raw = checked.source.document.to_text()
    (diagnostic,) = diagnostics(checked)
    start = diagnostic["location"]["range"]["start"]["line"]
    assert "model(x)" in "".join(raw.splitlines()[start - 1 :])
    if "suggestions" in diagnostic:
        cells = json.loads(taken(raw, diagnostic))["cells"]
        assert "".join(cells[0]["source"]) == "import torch\nmodel = Net().to(d)"
        assert "model(x.to(d))" in "".join(cells[2]["source"])


def test_files_are_named_from_where_reviewdog_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inside, outside = (
        CheckResult(SourceFile.from_text("x\n", path), (samples.finding(Span(0, 1)),))
        for path in (f"{tmp_path}/a b.py", f"{ROOT}/x.py")
    )
    paths = [each["location"]["path"] for each in diagnostics(inside, outside)]
    assert paths == ["a b.py", f"{ROOT}/x.py"]


def test_what_could_not_be_checked_is_an_error():
    first, second = diagnostics(problems=samples.PROBLEMS)
    assert first["severity"] == second["severity"] == "ERROR"
    assert first["code"] == {"value": "unchecked-file"}
    assert first["location"]["range"] == {"start": {"line": 3, "column": 5}}
    assert "range" not in second["location"]
