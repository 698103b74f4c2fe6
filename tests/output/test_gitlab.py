"""GitLab's code quality: its list of issues, and what makes two of them the same."""

import json
import re
from typing import Any

import jsonschema
import pytest

from devicelint.finding import Span
from devicelint.linter.result import CheckResult
from devicelint.text.source import SourceFile
from tests.output import samples
from tests.output.samples import ROOT, SCHEMAS


def issues(*files: CheckResult, problems=()) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(samples.written("gitlab", files, problems))
    return found


def test_everything_is_valid_and_each_issue_is_another():
    schema = json.loads((SCHEMAS / "gitlab.json").read_text(encoding="utf-8"))
    found = json.loads(samples.everything("gitlab"))
    jsonschema.Draft7Validator(schema).validate(found)
    paths = [issue["location"]["path"] for issue in found]
    # The notebooks are one, told four times.
    assert (
        len({issue["fingerprint"] for issue in found})
        == len(found) - paths.count("note book.ipynb") + 1
    )


def test_nothing_found_is_an_empty_list():
    assert issues() == issues(samples.fine()) == []


def test_an_issue():
    first, second = issues(samples.awkward())
    assert first.pop("fingerprint") != second["fingerprint"]
    assert first == {
        "type": "issue",
        "check_name": "DEV101",
        "description": "DEV101: `batch` is on the CPU since line 2",
        "content": {
            "body": "* line 1: moved to cuda here\n* line 2: fails here\n"
            "* with an accelerator\n* fix: Move it (safe)"
        },
        "categories": ["Bug Risk"],
        "severity": "major",
        "location": {
            "path": "a dir/größe #1%/train.py",
            "lines": {"begin": 3, "end": 3},
            "positions": {"begin": {"line": 3, "column": 23}, "end": {"line": 3, "column": 28}},
        },
    }
    assert second["severity"] == "minor"
    assert second["location"]["lines"] == {"begin": 4, "end": 6}


def known(text: str, path: str = f"{ROOT}/x.py") -> list[str]:
    source = SourceFile.from_text(text, path)
    found = tuple(
        samples.finding(Span(*match.span()), message=f"since line {match.start()}")
        for match in re.finditer("wrong", text)
    )
    return [issue["fingerprint"] for issue in issues(CheckResult(source, found))]


@pytest.mark.parametrize("text", ["\n\nwrong()\n", "import x\nwrong()\n", "if x:\n    wrong()\n"])
def test_a_fingerprint_stays_where_the_line_moves(text):
    assert known(text) == known("wrong()\n")


@pytest.mark.parametrize(
    ("text", "path"), [("wrong() + 1\n", f"{ROOT}/x.py"), ("wrong()\n", f"{ROOT}/y.py")]
)
def test_a_fingerprint_changes_with_the_line_and_the_file(text, path):
    assert known(text, path) != known("wrong()\n")


def test_the_same_line_twice_is_two_issues_of_which_the_first_is_the_known_one():
    first, second = known("wrong()\nwrong()\n")
    assert first != second
    assert known("wrong()\n") == [first]


@pytest.mark.parametrize("checked", samples.NOTEBOOKS)
def test_a_finding_in_a_notebook_is_on_a_line_of_the_file(checked):
    (issue,) = issues(checked)
    raw = checked.source.document.to_text()
    assert "model(x)" in raw.splitlines()[issue["location"]["lines"]["begin"] - 1]


def test_what_could_not_be_checked_is_an_issue_that_blocks():
    first, second = issues(problems=samples.PROBLEMS)
    assert (first["check_name"], first["severity"]) == ("unchecked-file", "blocker")
    assert first["location"]["path"] == "a dir/broken.py"
    assert first["location"]["lines"] == {"begin": 3, "end": 3}
    assert second["location"]["lines"] == {"begin": 1, "end": 1}
