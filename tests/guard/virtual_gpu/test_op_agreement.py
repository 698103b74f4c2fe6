"""The judges of `benchmarks/op_agreement.py` answer as CUDA does, or with a reason why not."""

from __future__ import annotations

import json

import pytest

from benchmarks import op_agreement

pytest.importorskip("expecttest", reason="torch's operator database needs it")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def rows():
    names = ("mm", "add", "addcdiv", "logaddexp", "meshgrid", "nn.functional.embedding", "max")
    return [op_agreement.judged(case) for case in op_agreement.cases(names, None)]


def answers(rows, name, *, scalar):
    judges = ("virtual", "rules", "fake", "linter")
    return {
        tuple(row[judge] for judge in judges)
        for row in rows
        if row["op"] == name and row["scalar"] == scalar
    }


@pytest.mark.parametrize(
    ("name", "scalar", "expected"),
    [
        ("mm", False, ("exact", "exact", "iterator", "refused")),
        ("add", False, ("iterator", "iterator", "iterator", "refused")),
        ("add", True, ("runs", "runs", "runs", "runs")),
        ("addcdiv", True, ("iterator", "iterator", "runs", "refused")),
        ("logaddexp", True, ("exact", "exact", "runs", "refused")),
        ("meshgrid", False, ("own", "runs", "own", "refused")),
        ("max", True, ("runs", "runs", "runs", "runs")),
    ],
)
def test_each_judge_says_what_becomes_of_a_tensor_on_the_cpu(rows, name, scalar, expected):
    assert answers(rows, name, scalar=scalar) == {expected}


def test_where_the_virtual_gpu_differs_from_the_rules_there_is_a_reason(rows, capsys):
    assert op_agreement.report(rows) == 0
    said = capsys.readouterr().out
    assert "the reference: rules" in said
    assert "?:" not in said


def test_the_reference_is_what_an_accelerator_answered_where_that_is_known(rows, capsys):
    answered = [
        row | {"accelerator": "runs" if row["op"] == "mm" else row["rules"]} for row in rows
    ]
    assert op_agreement.report(answered) == 1
    said = capsys.readouterr().out
    assert "the reference: accelerator" in said
    assert "?: mm[0:0], mm[0:1]" in said


def test_a_recorded_answer_belongs_to_its_torch_and_its_case(tmp_path, monkeypatch):
    monkeypatch.setattr(op_agreement, "HERE", tmp_path)
    assert op_agreement.recorded() == {}
    path = tmp_path / "data" / f"op_agreement-torch-{op_agreement.release()}.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"answers": {"mm[0:0]": "exact"}}), encoding="utf-8")
    assert op_agreement.recorded() == {"mm[0:0]": "exact"}
