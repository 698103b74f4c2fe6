"""`benchmarks/real_bugs.py` writes cases out of checkouts, and scores what is found in them."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from benchmarks.real_bugs import main

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")

BROKEN = """import torch
from helper import double

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def doubled(model):
    return double(model)

torch.nn.Linear(4, 2).to(device)(torch.zeros(3, 4))
"""
FIXED = BROKEN.replace("(torch.zeros(3, 4))", "(torch.zeros(3, 4, device=device))")


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    command = ["git", "-C", str(folder), *identity, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def mirror(tmp_path):
    repo = tmp_path / "mirror" / "owner+name" / "repo"
    (repo / "src").mkdir(parents=True)
    git(repo, "init", "-q")
    for text in (BROKEN, FIXED):
        (repo / "src" / "train.py").write_text(text)
        (repo / "src" / "helper.py").write_text("def double(x):\n    return x + x\n")
        (repo / "notes.txt").write_text("not Python")
        git(repo, "add", ".")
        git(repo, "commit", "-q", "-m", "change")
    return tmp_path / "mirror"


@pytest.fixture
def score(tmp_path, mirror, capsys):
    def run(*, options=(), **changes):
        fix = git(mirror / "owner+name" / "repo", "rev-parse", "HEAD")
        case = {
            "id": "one",
            "repo": "owner/name",
            "fix_commit": fix,
            "file": "src/train.py",
            "buggy_lines": [10],
            "fixed_snippet_lines": [10],
            "kind": "input-not-moved",
            "evidence": "explicit",
            "effect": "error",
            "local": True,
        }
        cases = tmp_path / "cases.jsonl"
        cases.write_text(json.dumps(case | changes) + "\n")
        out = ("--mirror", str(mirror), "--out", str(tmp_path / "out"))
        data = tmp_path / "scores.json"
        status = main([str(cases), *out, "--json", str(data), *options])
        said = capsys.readouterr()
        return status, said, json.loads(data.read_text())["cases"] if data.exists() else None

    return run


def test_a_bug_is_found_where_it_stands(score):
    status, said, cases = score()
    assert status == 0
    assert [case["found"] for case in cases] == [True]
    assert "explicit             1/1" in said.out
    assert "pass  local errors, evidence api, explicit or module: 1 of 1" in said.out


@pytest.mark.parametrize(("line", "found"), [(8, True), (12, True), (7, False), (13, False)])
def test_a_finding_counts_within_two_lines(score, line, found):
    status, _, cases = score(buggy_lines=[line])
    assert cases[0]["found"] is found
    assert status == (0 if found else 1)


def test_a_missed_bug_is_told(score):
    _, said, _ = score(buggy_lines=[3])
    assert "missed  one: input-not-moved, explicit, error, local, src/train.py:3" in said.out
    assert "FAIL  local errors" in said.out


def test_a_finding_on_a_fixed_line_is_a_false_alarm(score, mirror, tmp_path):
    repo = mirror / "owner+name" / "repo"
    (repo / "src" / "train.py").write_text(BROKEN)
    git(repo, "commit", "-q", "-a", "-m", "fixed by breaking it")
    status, said, cases = score(buggy_lines=[3])
    assert status == 1
    assert len(cases[0]["false_alarms"]) == 1
    assert "false alarm  one: src/train.py:10: DEV" in said.out


def test_a_case_that_is_not_local_gets_the_other_python_files(score, tmp_path):
    score(local=False)
    tree = tmp_path / "out" / "one" / "before"
    files = sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*.*"))
    assert files == ["src/helper.py", "src/train.py"]


def test_a_local_case_gets_its_file_alone_unless_asked_otherwise(score, tmp_path):
    score()
    assert not (tmp_path / "out" / "one" / "before" / "src" / "helper.py").exists()
    score(options=("--trees", "all"))
    assert (tmp_path / "out" / "one" / "before" / "src" / "helper.py").exists()


def test_what_fails_in_old_releases_alone_is_no_case(score):
    status, said, _ = score(effect="old-torch")
    assert status == 2
    assert said.err == "no case was scored\n"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"repo": "nobody/nothing"}, "one: there is no checkout "),
        ({"file": "src/gone.py"}, "git show: fatal: "),
        ({"fix_commit": "0" * 40}, "git show: fatal: "),
    ],
)
def test_what_is_missing_is_told_in_one_line(score, changes, told):
    status, said, _ = score(**changes)
    assert status == 2
    assert told in said.err
    assert len(said.err.splitlines()) == 2


def test_no_foreign_code_is_written_into_this_repository(score):
    status, said, _ = score(options=("--out", "benchmarks/data"))
    assert status == 2
    assert "which keeps no foreign code" in said.err


def test_a_line_that_is_no_case_is_told(tmp_path, capsys):
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"id": "one"}\n')
    out = ("--mirror", str(tmp_path), "--out", str(tmp_path / "out"))
    assert main([str(cases), *out]) == 2
    assert capsys.readouterr().err == f"{cases}:1:1: a case lacks 'repo'\n"
