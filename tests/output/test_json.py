"""JSON and JSON Lines: the schema that is published beside the page about formats."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from devicelint.finding import Edit, Span
from devicelint.output import formats
from devicelint.text.edits import apply
from devicelint.text.source import SourceFile
from tests.output import samples

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs/findings.schema.json").read_text(encoding="utf-8")
)
FINDING = {"$ref": "#/definitions/finding", "definitions": SCHEMA["definitions"]}


@pytest.mark.parametrize("text", [samples.everything("json"), samples.written("json", [])])
def test_a_report_is_valid(text):
    jsonschema.Draft7Validator(SCHEMA).validate(json.loads(text))


def test_each_line_is_a_finding_that_is_valid():
    lines = samples.everything("json-lines").split("\n")[:-1]
    assert [json.loads(line) for line in lines] == json.loads(samples.everything("json"))
    for line in lines:
        jsonschema.Draft7Validator(FINDING).validate(json.loads(line))


@pytest.mark.parametrize(("count", "key"), [(1, "proof"), (2, "proofs")])
def test_a_report_with_proofs_is_valid(count, key):
    report = formats.reporter("json", samples.CONTEXT)
    for _ in range(count):
        assert report.proof({"script": "train.py"})
    document = json.loads(report.end())
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    assert document.keys() == {"findings", key}


def test_every_key_is_in_some_report():
    def keys(value: Any) -> set[str]:
        if isinstance(value, list):
            return set().union(*map(keys, value))
        if isinstance(value, dict):
            return set(value).union(*map(keys, value.values()))
        return set()

    files = [samples.awkward(), samples.refused(), samples.across()[0], *samples.NOTEBOOKS]
    found = json.loads(samples.written("json", files, context=samples.across()[1]))
    described = set().union(
        *(kind.get("properties", {}) for kind in SCHEMA["definitions"].values())
    )
    assert keys(found) == described


def test_edits_make_of_each_file_what_devicelint_makes():
    checked, context = samples.across()
    (finding,) = json.loads(samples.written("json", [checked], context=context))
    texts = {None: "f(x)\n", f"{samples.ROOT}/other.py": "def f(x):\n    return é\n"}
    for edit in finding["fix"]["edits"]:
        file = edit.get("filename")
        source = SourceFile(texts[file])
        start, end = (
            source.offset(edit[key]["row"], edit[key]["column"] - 1)
            for key in ("location", "end_location")
        )
        texts[file] = apply(source.text, [Edit(Span(start, end), edit["content"])])
    assert list(texts.values()) == ["f(x, d)\n", "def f(x, device):\n    return é\n"]
    (finding,) = json.loads(samples.written("json", [checked]))
    assert finding["fix"] is None


def test_a_place_in_another_file_has_its_name_and_a_half_of_a_character_is_no_json():
    _, second = json.loads(samples.written("json", [samples.awkward()]))
    assert second["related"] == [
        {
            "filename": f"{samples.ROOT}/other.py",
            "location": {"row": 3, "column": 5},
            "message": "handed over here",
        }
    ]
    assert "\\ud800" not in samples.written("json", [samples.awkward()])
    assert second["message"].endswith("<&> ?\x00é\U0001f600")
