"""What the page about formats shows is what devicelint writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from devicelint.cli import main
from devicelint.output.formats import FORMATS

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
SHOWN = ("text", "concise", "agent", "json", "github", "gitlab", "junit", "rdjson")


def block(heading: str, language: str) -> str:
    """The first block of a section that is in a language."""
    section = re.search(rf"^#+ {heading}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None
    found = re.search(rf"^```{language}\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def write(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(block("Examples", "python"), encoding="utf-8")

    def written(name: str) -> str:
        assert main(["-q", "train.py", "--output-format", name]) == 1
        return str(capfd.readouterr().out).replace(str(tmp_path), "/project")

    return written


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_is_what_is_written(write, name):
    language = {"junit": "xml"}.get(name, "json" if "json" in name or name == "gitlab" else "text")
    assert block(name, language) == write(name)


def test_the_part_of_a_log_that_is_shown_is_in_it(write):
    (result,) = json.loads(write("sarif"))["runs"][0]["results"]
    shown = json.loads(block("sarif", "json"))
    assert shown.keys() == {"locations", "fixes"}
    assert {key: result[key] for key in shown} == shown


def test_each_format_has_a_row_and_a_section():
    rows = re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE)
    assert rows == ["--output-format", *FORMATS]
    assert re.findall(r"^### ([\w-]+)$", PAGE, re.MULTILINE) == list(FORMATS)
