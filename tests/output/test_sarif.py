"""SARIF: the standard's schema, and what code scanning and viewers do with a log."""

import json
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from devicelint.finding import Finding, InputError, Severity, Span
from devicelint.linter.result import CheckResult
from devicelint.output.formats.sarif_rules import rules
from devicelint.output.reporter import ReportContext
from devicelint.text.edits import apply
from devicelint.text.source import SourceFile
from tests.output import samples
from tests.output.readers import fixed_text, quoted
from tests.output.samples import ROOT, SCHEMAS


def run_of(
    *files: CheckResult, problems=(), context: ReportContext = samples.CONTEXT
) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(samples.written("sarif", files, problems, context))["runs"][0]
    return run


def results(*files: CheckResult, context: ReportContext = samples.CONTEXT) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run_of(*files, context=context)["results"]
    return found


def validate(log: str) -> None:
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(json.loads(log))


def test_everything_is_valid():
    validate(samples.everything("sarif"))


def test_a_run_that_finds_nothing_is_valid_and_has_all_rules():
    log = samples.written("sarif", [])
    validate(log)
    run = json.loads(log)["runs"][0]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]][:2] == ["DEV000", "DEV101"]


def test_columns_count_code_units_of_utf_16():
    first, second = results(samples.awkward())
    region = first["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"], region["endColumn"]) == (3, 24, 29)
    assert quoted(samples.AWKWARD, region) == region["snippet"]["text"] == "batch"
    region = second["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["endLine"]) == (4, 6)
    assert quoted(samples.AWKWARD, region) == "f(\n\t\toutput,\n\t\ttarget)"


def test_a_fix_makes_of_the_text_what_devicelint_makes():
    checked = samples.awkward()
    for finding, result in zip(checked.findings, results(checked), strict=True):
        assert finding.fix is not None
        (change,) = result["fixes"][0]["artifactChanges"]
        assert fixed_text(samples.AWKWARD, change) == apply(samples.AWKWARD, finding.fix.edits)
        assert result["fixes"][0]["properties"] == {"safety": finding.fix.safety.value}


def test_a_fix_of_two_files_changes_both_and_is_left_out_where_one_cannot_be_read():
    checked, context = samples.across()
    changes = results(checked, context=context)[0]["fixes"][0]["artifactChanges"]
    assert [change["artifactLocation"]["uri"] for change in changes] == ["main.py", "other.py"]
    assert fixed_text("f(x)\n", changes[0]) == "f(x, d)\n"
    assert (
        fixed_text("def f(x):\n    return é\n", changes[1]) == "def f(x, device):\n    return é\n"
    )
    assert "fixes" not in results(checked)[0]


@pytest.mark.parametrize("checked", samples.NOTEBOOKS)
def test_places_and_fixes_of_a_notebook_are_those_of_its_json(checked):
    assert checked.source.document is not None
    raw = checked.source.document.to_text()
    (result,) = results(checked)
    region = result["locations"][0]["physicalLocation"]["region"]
    assert quoted(raw, region) == "x"
    assert raw.splitlines()[region["startLine"] - 1].endswith(('model(x)\\n",', 'z = 1\\n",'))
    assert result["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "cell 3:line 1"}]
    fixed = fixed_text(raw, result["fixes"][0]["artifactChanges"][0])
    sources = ["".join(cell["source"]) for cell in json.loads(fixed)["cells"]]
    assert sources == [
        "import torch\nmodel = Net().to(d)",
        "# Text",
        'x = "\U0001f600é\\t"; y = model(x.to(d))\nz = 1\n',
    ]


def test_files_are_named_from_the_root_and_others_by_all_of_their_path():
    locations = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]
        for result in results(samples.awkward(), samples.revealed())
    ]
    uri = "a%20dir/gr%C3%B6%C3%9Fe%20%231%25/train.py"
    assert locations[0] == {"uri": uri, "uriBaseId": "%SRCROOT%"}
    assert unquote(uri) == "a dir/größe #1%/train.py"
    assert locations[-1] == {"uri": "file:///elsewhere/x.py"}
    assert run_of()["originalUriBaseIds"] == {"%SRCROOT%": {"uri": f"file://{ROOT}/"}}


def test_a_colon_in_a_name_is_no_scheme():
    (first, _) = results(samples.awkward(f"{ROOT}/a:b.py"))
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%3Ab.py"


def test_the_history_of_devices_leads_through_the_finding_to_where_it_fails():
    first, second = results(samples.awkward())
    (flow,) = first["codeFlows"]
    (thread,) = flow["threadFlows"]
    steps = [step["location"] for step in thread["locations"]]
    assert [
        (step["message"]["text"], step["physicalLocation"]["region"]["startLine"]) for step in steps
    ] == [
        ("moved to cuda here", 1),
        ("`batch` is on the CPU since line 2", 3),
        ("fails here", 2),
    ]
    assert [related["id"] for related in first["relatedLocations"]] == [1, 2]
    (elsewhere,) = second["relatedLocations"]
    assert elsewhere["physicalLocation"] == {
        "artifactLocation": {"uri": "other.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 5},
    }


def test_columns_of_other_files_count_code_units_too():
    checked = samples.awkward()
    other = SourceFile.from_text("\n\n\U0001f600\U0001f600()", f"{ROOT}/other.py")
    context = ReportContext(root=ROOT, read={other.path: other}.get)
    (elsewhere,) = results(checked, context=context)[1]["relatedLocations"]
    region = elsewhere["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 7}


def test_levels_are_those_of_the_findings():
    assert [result["level"] for result in results(samples.awkward())] == ["error", "warning"]
    note = Finding("DEV601", "create-then-move", Severity.NOTE, "x", Span(0, 1))
    (result,) = results(CheckResult(SourceFile.from_text("x\n", "x.py"), (note,)))
    assert result["level"] == "note"


def test_what_was_asked_for_is_no_alert():
    (answer,) = results(samples.revealed())
    assert (answer["kind"], answer["level"]) == ("informational", "none")


def test_results_point_at_their_rules():
    run = run_of(samples.awkward(), samples.revealed())
    described = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert described[result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_rule_that_nobody_knows_has_no_index():
    stranger = Finding("XYZ123", "of-a-plug-in", Severity.ERROR, "x", Span(0, 1))
    (result,) = results(CheckResult(SourceFile.from_text("x\n", "x.py"), (stranger,)))
    assert "ruleIndex" not in result


def test_rules_are_described_in_words_of_their_pages():
    for rule in rules():
        assert 10 < len(rule["shortDescription"]["text"]) < 255
        assert 20 < len(rule["fullDescription"]["text"]) < 1024, rule["id"]
        assert rule["fullDescription"]["text"] in rule["help"]["markdown"]
        assert "```" not in rule["help"]["markdown"]
        if rule["id"] != "DEV000":
            assert "**Why.**" in rule["help"]["markdown"]
            assert "**Fix.**" in rule["help"]["markdown"]
    levels = {rule["id"]: rule["defaultConfiguration"] for rule in rules()}
    assert levels["DEV101"] == {"enabled": True, "level": "error"}
    assert levels["DEV601"] == {"enabled": False, "level": "note"}


def test_what_could_not_be_checked_is_a_notification():
    run = run_of(problems=samples.PROBLEMS)
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    first, second = invocation["toolExecutionNotifications"]
    assert first["level"] == "error"
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20dir/broken.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 5},
    }
    assert second["message"]["text"] == "cell 4:line 2:1: cell is not checked"
    assert "region" not in second["locations"][0]["physicalLocation"]


def test_what_is_passed_over_of_a_notebook_is_a_warning():
    raw = json.dumps(
        {
            "cells": [
                {"cell_type": "code", "source": "import torch", "metadata": {}, "outputs": []},
                {"cell_type": "code", "source": "x = = 1", "metadata": {}, "outputs": []},
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
    )
    checked = CheckResult(SourceFile.from_text(raw, f"{ROOT}/n.ipynb"), ())
    (invocation,) = run_of(checked)["invocations"]
    assert invocation["executionSuccessful"] is True
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["level"] == "warning"
    assert notification["message"]["text"].startswith("cell 2:line 1:5: cell is not checked")


def test_alerts_stay_the_same_where_lines_move():
    def known(text: str) -> list[dict[str, str]]:
        source = SourceFile.from_text(text, f"{ROOT}/x.py")
        found = tuple(
            samples.finding(Span(start, start + 7))
            for start in range(len(text))
            if text.startswith("wrong()", start)
        )
        return [result["partialFingerprints"] for result in results(CheckResult(source, found))]

    once = known("wrong()\n" + "right()\n" * 20)
    assert known("import x\n\n" + "wrong()\n" + "right()\n" * 20) == once
    twice = known("wrong()\n" + "right()\n" * 20 + "wrong()\n")
    assert len({str(one) for one in twice}) == 2


def test_a_configuration_that_cannot_be_understood_is_told_as_one():
    from devicelint.config import ConfigError

    problem = ConfigError(f"{ROOT}/pyproject.toml", 2, 0, 'unknown key "selct"')
    (invocation,) = run_of(problems=[problem, InputError("x.py", 1, 0, "is a directory")])[
        "invocations"
    ]
    (told,) = invocation["toolConfigurationNotifications"]
    assert told["message"]["text"] == 'unknown key "selct"'
    assert len(invocation["toolExecutionNotifications"]) == 1
