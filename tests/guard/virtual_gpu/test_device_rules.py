"""The tables of CUDA's device rules are what torch gives, and say what CUDA does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tools import derive_device_rules
from tools.derive_device_rules import DeriveError, installed_release, rules_by_hand, run, table

ROOT = Path(__file__).parents[3]
TABLES = ROOT / derive_device_rules.TABLES
KEPT = ("2.6", "2.8", "2.11", "2.13")
NEWEST = "2.13"
INSTALLED = ".".join(installed_release().split(".")[:2])

# What the meta device cannot tell: what a kernel asserts after its iterator has excused a scalar.
REFUSED_BY_KERNELS = {
    "mse_loss",
    "mse_loss.out",
    "smooth_l1_loss",
    "smooth_l1_loss.out",
    "lerp.Scalar",
    "lerp_.Scalar",
    "lerp.Scalar_out",
}
# There, they build no iterator at all.
NO_ITERATOR_ON_META = {"index_fill_.int_Scalar", "index_fill_.int_Tensor"}


def table_of(release: str):
    return json.loads((TABLES / f"torch-{release}.json").read_text(encoding="utf-8"))


def rows_of(release: str):
    return table_of(release)["ops"]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("add.Tensor", ["iterator", "", ["self", "other"], 1]),
        ("add_.Tensor", ["iterator", "", ["self", "other"], 1]),
        ("add.out", ["iterator", "", ["out", "self", "other"], 1]),
        ("addcdiv", ["iterator", "", ["self", "tensor1", "tensor2"], 0]),
        ("lerp.Tensor", ["iterator", "", ["self", "end", "weight"], 1, "weight"]),
        ("where.self", ["iterator", "", ["condition", "self", "other"], 3]),
        ("mse_loss", ["iterator", "", ["self", "target"], 0]),
        ("abs.out", ["iterator", "", ["out", "self"], 0]),
        ("sum.IntList_out", ["output", "", ["out", "self"], 0]),
        ("mm", ["exact", "wrapper_CUDA_mm", ["self", "mat2"], 0]),
        ("addmm", ["exact", "wrapper_CUDA_addmm", ["self", "mat1", "mat2"], 0]),
        (
            "addmm.out",
            ["exact", "wrapper_CUDA_addmm_out_out", ["out", "self", "mat1", "mat2"], 0],
        ),
        ("index_select", ["exact", "wrapper_CUDA__index_select", ["self", "index"], 0]),
        ("clamp.Tensor", ["exact", "wrapper_CUDA_clamp_Tensor", ["self", "min", "max"], 0]),
        ("cat", ["exact", "wrapper_CUDA_cat", ["tensors"], 0]),
        (
            "nll_loss_forward",
            ["exact", "wrapper_CUDA_nll_loss_forward", ["self", "target", "weight"], 0],
        ),
        (
            "embedding",
            ["exact", "wrapper_CUDA__index_select", ["weight=self", "indices=index"], 0],
        ),
        ("_foreach_add.List", ["pairs", "", ["self", "other"], 1]),
        ("index.Tensor", ["own", "", [], 0]),
        ("copy_", ["unchecked", "", [], 0]),
    ],
)
def test_a_row_says_who_compares_which_arguments(name, row):
    assert rows_of(NEWEST)[name] == row


def test_counts_of_the_newest_table():
    assert Counter(row[0] for row in rows_of(NEWEST).values()) == {
        "exact": 526,
        "iterator": 220,
        "unchecked": 133,
        "composite": 78,
        "own": 44,
        "pairs": 42,
        "output": 17,
    }


@pytest.mark.parametrize(
    ("release", "words", "operators"),
    [("2.6", "found", 1022), ("2.8", "got", 1035), ("2.11", "got", 1054), ("2.13", "got", 1060)],
)
def test_a_table_knows_its_torch_and_how_it_words_a_refusal(release, words, operators):
    kept = table_of(release)
    assert kept["torch"].startswith(f"{release}.")
    assert kept["texts"] == words
    assert len(kept["ops"]) == operators


def test_every_table_is_kept_and_no_other():
    assert {path.name for path in TABLES.iterdir()} == {f"torch-{kept}.json" for kept in KEPT}


@pytest.mark.parametrize("release", KEPT)
def test_a_table_has_an_operator_a_line_in_order_and_is_small(release):
    text = (TABLES / f"torch-{release}.json").read_text(encoding="utf-8")
    names = [line.split('"')[1] for line in text.splitlines()[1:-1]]
    assert names == sorted(json.loads(text)["ops"])
    assert len(text) < 100_000


@pytest.mark.parametrize(
    ("name", "arguments", "excused"),
    [
        ("lerp.Tensor", ["self", "end", "weight"], "weight"),
        ("addcmul", ["self", "tensor1", "tensor2"], "tensor2"),
    ],
)
def test_the_excuse_that_came_with_torch_2_7_is_not_in_older_tables(name, arguments, excused):
    assert rows_of("2.6")[name] == ["iterator", "", arguments, 0]
    assert rows_of("2.8")[name] == ["iterator", "", arguments, 1, excused]


def test_hypot_compares_exactly_up_to_torch_2_11_and_by_its_iterator_since():
    assert rows_of("2.6")["hypot"] == ["exact", "wrapper_CUDA_hypot", ["self", "other"], 0]
    assert rows_of("2.13")["hypot"] == ["iterator", "", ["self", "other"], 1]


def test_every_rule_by_hand_has_a_reason_and_names_known_operators_once():
    known = {name for release in KEPT for name in rows_of(release)}
    named = [name for rule in rules_by_hand() if "before" not in rule for name in rule["operators"]]
    assert not [name for name, times in Counter(named).items() if times > 1]
    for rule in rules_by_hand():
        assert rule["reason"].endswith(".")
        assert rule["kind"] in {"exact", "iterator", "pairs", "output", "own", "unchecked"}
        unknown = set(rule["operators"]) - known
        assert not unknown


def test_the_table_of_the_installed_torch_is_what_it_gives(capsys):
    assert run(ROOT, check=True) == 0
    said = capsys.readouterr().out
    assert said == "" or f"no table is kept of the installed torch, {installed_release()}" in said


def test_a_stale_table_is_named_and_written_anew(tmp_path, capsys, monkeypatch):
    release = installed_release()
    monkeypatch.setattr(derive_device_rules, "installed_table", lambda: "derived\n")
    path = tmp_path / derive_device_rules.table_path(release)
    path.parent.mkdir(parents=True)
    path.write_text(f'{{"torch": "{release}"}}\n', encoding="utf-8")
    assert run(tmp_path, check=True) == 1
    assert "not what torch gives; run `make generate`" in capsys.readouterr().out
    assert run(tmp_path, check=False) == 0
    assert path.read_text(encoding="utf-8") == "derived\n"


def test_a_torch_without_a_table_is_told_of_and_no_table_is_begun(tmp_path, capsys):
    assert run(tmp_path, check=False) == 0
    assert "no table is kept of the installed torch" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_of_which_nothing_is_known_is_refused():
    unknown = {
        "arguments": ["self", "other"],
        "written": [],
        "checked": [],
        "wrapper": "wrapper_CUDA_novel",
        "iterator": False,
        "structured": "",
        "composite": "",
    }
    with pytest.raises(DeriveError, match=r"novel: its rule is not in derive_device_rules\.toml"):
        table("9.9.0", {"novel": unknown}, "got")


def verdict(said):
    """Return what torch says of a scalar of the CPU; None where it says nothing of devices."""
    if said == "runs":
        return "excused"
    refused = "at least two devices" in said or "too many CPU scalars" in said
    return "refused" if refused else None


def asked_on_meta(names):
    script = Path(__file__).with_name("iterators_on_meta.py")
    asked = subprocess.run(
        [sys.executable, str(script)],
        input=" ".join(names),
        capture_output=True,
        text=True,
        check=True,
    )
    for name, said in json.loads(asked.stdout).items():
        verdicts = set(map(verdict, said.values()))
        if len(verdicts) == 1 and verdicts != {None}:
            yield name, verdicts.pop()


@pytest.mark.skipif(INSTALLED not in KEPT, reason="no table is kept of the installed torch")
def test_iterators_excuse_a_cpu_scalar_where_torch_itself_does():
    iterators = {name: row[3] for name, row in rows_of(INSTALLED).items() if row[0] == "iterator"}
    answered = dict(asked_on_meta(iterators))
    assert len(answered) > 180
    differing = {
        name
        for name, said in answered.items()
        if said != ("excused" if iterators[name] else "refused")
    }
    assert differing == REFUSED_BY_KERNELS | NO_ITERATOR_ON_META
