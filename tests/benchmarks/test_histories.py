"""`benchmarks.histories`: what is a candidate, what is a case, and what is counted."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.halves import half_of
from benchmarks.histories.__main__ import main
from benchmarks.histories.edits import edit_of_devices, is_of_devices_alone
from benchmarks.histories.judge import CASES
from benchmarks.histories.take import problems_of, rows

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")

SCRIPT = """import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 2).to(device)
out = model(torch.zeros(3, 4))
"""
LONG = "".join(f"a{number} = torch.zeros({number})\n" for number in range(31))
NAMES = {"learn": "owner/name2", "measure": "owner/name0"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = f(x)", "y = f(x.to(device))"),
        ("y = f(x.cuda())", "y = f(x.to(x.device))"),
        ("y = f(x)", "x = x.cuda()\ny = f(x)"),
        ("y = f(x)", "x, z = x.to(d), z.to(d)\ny = f(x)"),
        ("y = x.cuda()", "y = x\nif use_cuda:\n    y = y.cuda()"),
        ("if a: y = x.cuda()", "if a: y = x"),
        ("y = torch.zeros(3)", "y = torch.zeros(3, device=x.device, dtype=x.dtype)"),
        ("y = torch.zeros(3)", "y = x.new_zeros(3)"),
        ("y = torch.zeros(x.size())", "y = torch.zeros_like(x)"),
        ("y = torch.cuda.FloatTensor(3)", "y = torch.FloatTensor(3)"),
        ("y = x.numpy()", "y = x.detach().cpu().numpy()"),
        ("y = torch.load(p)", "y = torch.load(p, map_location='cpu')"),
        ("y = torch.load(p)", "y = torch.load(p, map_location=lambda storage, loc: storage)"),
        ("self.w = torch.ones(3)", "self.register_buffer('w', torch.ones(3))"),
        ("x = {k: v for k, v in y}", "x = {k: v.to(device) for k, v in y}"),
        ("y = f(x)", "x = [each.cuda() for each in x]\ny = f(x)"),
        ("torch.cuda.empty_cache()", "if torch.cuda.is_available():\n    torch.cuda.empty_cache()"),
    ],
)
def test_a_change_of_device_tokens_is_one_both_ways(before, after):
    assert is_of_devices_alone(before + "\n", after + "\n")
    assert is_of_devices_alone(after + "\n", before + "\n")


def test_a_move_that_comes_earlier_is_a_change_of_device_tokens():
    before = "model = f()\noptimizer = g(model)\nmodel.cuda()\n"
    after = "model = f()\nmodel.cuda()\noptimizer = g(model)\n"
    assert is_of_devices_alone(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = f(x)", "y = f(x)"),
        ("def f(x):\n    return x", "def f(x, y):\n    return x.cuda()"),
        ("y = f(x)", "y = g(x)"),
        ("y = f(x)", "y = g(x.to(device))"),
        ("y = f(x.cuda())", "y = f(x.cuda(), 3)"),
        ("y = x.numpy()", "y = x.detach().numpy()"),
        ("y = x", "y = x  # on the cuda device"),
        ("y = x", "import torch.cuda\ny = x\nprint(torch.cuda.device_count())"),
        ("y = torch.zeros(3)", "y = torch.ones(3, device=device)"),
        ("y = (", "y = x.cuda()"),
        ("print 'x'", "print 'x'\nx = x.cuda()"),
    ],
)
def test_any_other_change_is_none(before, after):
    assert not is_of_devices_alone(before + "\n", after + "\n")


def test_an_edit_of_device_tokens_is_found_beside_others():
    before = "import torch\nx = torch.zeros(3)\n\n\ny = 1\n"
    after = "import torch\nx = torch.zeros(3, device=d)\n\n\ny = 2\n"
    assert edit_of_devices(before, after, parts=False) is None
    edit = edit_of_devices(before, after, parts=True)
    assert edit is not None
    assert (edit.before_lines, edit.after_lines, edit.whole) == ((2,), (2,), False)


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    command = ["git", "-C", str(folder), *identity, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def commits(tmp_path):
    """Write versions of `train.py` as commits of a repository; the hashes."""

    def write(name, *texts):
        repo = tmp_path / "mirror" / name.replace("/", "+") / "repo"
        repo.mkdir(parents=True)
        git(repo, "init", "-q")
        for number, text in enumerate(texts):
            (repo / "train.py").write_text(text)
            git(repo, "add", ".")
            git(repo, "commit", "-q", "-m", f"change {number}")
        return git(repo, "rev-list", "--reverse", "HEAD").splitlines()

    return write


@pytest.fixture
def run(tmp_path, capsys):
    """Run a command on the mirror; the status, and what was said."""

    def run(*words):
        mirror = str(tmp_path / "mirror")
        command = [words[0], mirror, *words[1:]] if words[:1] in COMMANDS else [mirror, *words]
        status = main([str(word) for word in command])
        said = capsys.readouterr()
        return status, said

    return run


COMMANDS = {("mine",), ("offer",), ("take",)}
FIXED = SCRIPT.replace("torch.zeros(3, 4)", "torch.zeros(3, 4, device=device)")
RENAMED = FIXED.replace("out =", "result =")


@needs_git
def test_a_fix_is_mined_and_a_refactoring_is_not(commits, run, tmp_path):
    _, fix, _, _ = commits("owner/name", SCRIPT, FIXED, RENAMED, LONG + RENAMED)
    status, said = run("mine", "--out", tmp_path / "found.jsonl")
    assert (status, said.out) == (0, "1 candidates of 1 repositories\n")
    (found,) = rows([tmp_path / "found.jsonl"])
    assert found == {
        "id": f"name-{fix[:8]}-train",
        "repo": "owner/name",
        "fix_commit": fix,
        "file": "train.py",
        "before_lines": [5],
        "after_lines": [5],
        "whole": True,
    }


@needs_git
@pytest.mark.parametrize(("lines", "candidates"), [(30, 1), (31, 0)])
def test_a_change_of_many_lines_is_none(commits, run, tmp_path, lines, candidates):
    kept = "".join(LONG.splitlines(keepends=True)[:lines])
    commits("owner/name", kept, kept.replace(")", ", device=d)"))
    run("mine", "--out", tmp_path / "found.jsonl")
    assert len(list(rows([tmp_path / "found.jsonl"]))) == candidates


@needs_git
def test_the_same_change_is_one_candidate(commits, run, tmp_path):
    commits("owner/name", SCRIPT, FIXED, SCRIPT, FIXED)
    run("mine", "--out", tmp_path / "found.jsonl")
    assert len(list(rows([tmp_path / "found.jsonl"]))) == 2


@needs_git
def test_candidates_become_cases_and_are_judged(commits, run, tmp_path):
    for name in NAMES.values():
        commits(name, SCRIPT, FIXED)
    run("mine", "--out", tmp_path / "found.jsonl")
    _, said = run("offer", tmp_path / "found.jsonl", "--out", tmp_path / "parts")
    assert said.out == "2 candidates in 1 parts\n"
    offered = list(rows([tmp_path / "parts" / "PART_1.jsonl"]))
    shown = (tmp_path / "parts" / "PART_1" / f"{offered[0]['id']}.txt").read_text()
    assert "change 1" in shown
    assert "     5       - out = model(torch.zeros(3, 4))" in shown
    read = tmp_path / "read"
    read.mkdir()
    verdicts = [json.dumps({"id": each["id"], "keep": True, **VERDICT}) for each in offered]
    (read / "PART_1.jsonl").write_text("\n".join(verdicts))
    _, said = run("take", tmp_path / "parts", read, "--out", tmp_path / "cases.jsonl")
    assert said.out == "2 cases of 2 repositories, of 2 candidates that were read\n"
    figures = tmp_path / "figures.json"
    status, said = run("--cases", tmp_path / "cases.jsonl", "--json", figures)
    assert (status, said.out.splitlines()[-1]) == (0, "found 1 of 1 (learn), 1 of 1 (measure)")
    told = json.loads(figures.read_text())
    assert list(told["learn"]["each"]) == [
        each["id"] for each in offered if half_of(each["repo"]) == "learn"
    ]
    assert "each" not in told["measure"]


VERDICT = {
    "buggy_lines": [5],
    "fixed_snippet_lines": [5],
    "kind": "input-not-moved",
    "evidence": "explicit",
    "local": True,
    "world": "gpu",
    "effect": "error",
    "why": "The input is made on the CPU and given to the model that was moved.",
}


@needs_git
def test_of_the_measuring_half_nothing_but_figures_is_told(commits, run, tmp_path):
    fix = commits(NAMES["measure"], SCRIPT, FIXED)[-1]
    case = {"id": "secret", "repo": NAMES["measure"], "fix_commit": fix, "file": "train.py"}
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps({**case, **VERDICT, "buggy_lines": [1]}))
    status, said = run("--cases", cases, "--out", tmp_path / "out", "--json", tmp_path / "j")
    assert (status, said.out.splitlines()[-1]) == (0, "found 0 of 0 (learn), 0 of 1 (measure)")
    assert "secret" not in said.out + (tmp_path / "j").read_text()
    assert not (tmp_path / "out").exists()


@needs_git
def test_what_is_no_case_is_told(commits, run, tmp_path):
    commits("owner/name", SCRIPT, FIXED)
    run("mine", "--out", tmp_path / "found.jsonl")
    run("offer", tmp_path / "found.jsonl", "--out", tmp_path / "parts")
    (offered,) = rows([tmp_path / "found.jsonl"])
    (tmp_path / "read").mkdir()
    verdict = {"id": offered["id"], "keep": True, **VERDICT, "buggy_lines": [99]}
    (tmp_path / "read" / "PART_1.jsonl").write_text(json.dumps(verdict))
    status, said = run("take", tmp_path / "parts", tmp_path / "read", "--out", tmp_path / "c")
    assert status == 2
    assert said.err.endswith("train.py has no line 99\n")


def test_each_case_of_the_project_is_one():
    cases = list(rows([CASES]))
    assert [list(problems_of(case)) for case in cases] == [[]] * len(cases)
    names = [case["id"] for case in cases]
    assert names == sorted(set(names), key=str.lower)


def test_the_repositories_that_measure_are_those_of_the_cases():
    named = tomllib.loads(Path("benchmarks/measuring.toml").read_text(encoding="utf-8"))
    mined = {case["repo"] for case in rows([CASES])}
    assert {each for each in mined if half_of(each) == "measure"} == set(
        named["histories"]["repositories"]
    )
