"""`--diff-base`: what is found on changed lines, and what a change brings about elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from devicelint.cli import main
from devicelint.workspace.git import changed_lines

OLD = """\
import torch
assert torch.cuda.is_available()
x = torch.ones(2)
x.cuda()
"""
MODEL = """\
import torch
from torch import nn


def build():
    return nn.Linear(2, 2)
"""
TRAIN = """\
import torch
from parts import build
assert torch.cuda.is_available()
model = build()
print(model(torch.ones(1, 2)))
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    folder = tmp_path / "the project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git("init", "-q", "-b", "main")
    git("config", "user.name", "somebody")
    git("config", "user.email", "somebody@example.org")


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], check=True, capture_output=True, text=True)
    return done.stdout


def commit() -> None:
    git("add", "-A")
    git("commit", "-q", "-m", "some")


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(exist_ok=True, parents=True)
    Path(path).write_text(text, encoding="utf-8", newline="")


@pytest.fixture
def run(capfd):
    def run_it(*words: str, base: str = "HEAD") -> tuple[int, list[str], list[str]]:
        status = main([*words, "--diff-base", base, "--output-format", "concise"])
        out, error = capfd.readouterr()
        return (
            status,
            [line.partition(" DEV")[0] for line in out.splitlines()],
            [*error.splitlines()],
        )

    return run_it


class TestALine:
    def test_that_was_there_is_old(self, run):
        write("train.py", OLD)
        commit()
        write("train.py", "# a comment\n" + OLD)
        assert run() == (
            0,
            [],
            [
                "No new device mistakes found in 1 file",
                "Hid 1 finding on lines unchanged since HEAD",
            ],
        )

    def test_that_is_added_is_new(self, run):
        write("train.py", OLD)
        commit()
        write("train.py", OLD + "x.cuda()\nprint(x)\n")
        status, out, error = run()
        assert (status, out) == (1, ["train.py:5:1:"])
        assert error[0] == "Found 1 error; 1 fixable with --fix"

    def test_that_is_indented_is_old(self, run):
        write("train.py", OLD)
        commit()
        write("train.py", OLD.replace("x =", "if True:\n    x =").replace("x.c", "    x.c"))
        assert run("-q") == (0, [], [])

    def test_that_is_changed_is_new_staged_or_not(self, run):
        write("train.py", OLD)
        commit()
        write("train.py", OLD.replace("x.cuda()", "x.cuda(0)"))
        assert run()[1] == ["train.py:4:1:"]
        git("add", "-A")
        assert run()[1] == ["train.py:4:1:"]

    def test_that_is_committed_since_is_new(self, run):
        write("train.py", OLD)
        commit()
        write("train.py", OLD + "x.cuda()\n")
        commit()
        assert run()[1] == []
        assert run(base="HEAD~1")[1] == ["train.py:5:1:"]

    def test_that_only_the_other_branch_changed_is_old(self, run):
        write("train.py", OLD)
        commit()
        git("checkout", "-q", "-b", "mine")
        write("train.py", OLD + "x.cuda()\n")
        commit()
        git("checkout", "-q", "main")
        write("train.py", OLD.replace("x.cuda()", "pass"))
        commit()
        git("checkout", "-q", "mine")
        assert run(base="main")[1] == ["train.py:5:1:"]

    def test_in_the_middle_of_what_is_found_counts(self, run):
        write("train.py", OLD.replace("x.cuda()", "x.cuda(\n    # here\n)"))
        commit()
        write("train.py", OLD.replace("x.cuda()", "x.cuda(\n    # there\n)"))
        assert run()[1] == ["train.py:4:1:"]

    def test_of_other_line_ends_is_old(self, run):
        write("train.py", OLD)
        commit()
        write("train.py", OLD.replace("\n", "\r\n"))
        assert run("-q") == (0, [], [])


class TestAFile:
    def test_that_is_untracked_is_new(self, run):
        write("old.py", OLD)
        commit()
        write("new ä.py", OLD)
        assert run()[1] == ["new ä.py:4:1:"]

    def test_that_git_ignores_is_none_of_its_business(self, run):
        write(".gitignore", "made/\n")
        commit()
        write("made/train.py", OLD)
        assert run()[1] == []

    def test_that_is_moved_is_old(self, run):
        write("a.py", OLD + "# and\n# some\n# more\n# lines\n")
        commit()
        Path("sub").mkdir()
        git("mv", "a.py", "sub/b.py")
        assert run("-q") == (0, [], [])
        write("sub/b.py", Path("sub/b.py").read_text(encoding="utf-8") + "x.cuda()\n")
        assert run("sub")[1] == ["sub/b.py:9:1:"]

    def test_whose_name_is_odd(self, run):
        names = ["a b missing.py", "c 1 blob.py", "-d.py", "'e'.py", "f\ng.py"]
        for name in names:
            write(name, OLD)
        commit()
        for name in names:
            write(name, OLD + "x.cuda()\n")
        assert sorted(line for line in run()[1] if ":5:1:" in line) == [
            "'e'.py:5:1:",
            "-d.py:5:1:",
            "a b missing.py:5:1:",
            "c 1 blob.py:5:1:",
            "f\\ng.py:5:1:",
        ]

    def test_in_a_folder_below(self, run, monkeypatch):
        write("src/train.py", OLD)
        commit()
        write("src/train.py", OLD + "x.cuda()\n")
        monkeypatch.chdir("src")
        assert run()[1] == ["train.py:5:1:"]
        assert run("../src/train.py")[1] == ["../src/train.py:5:1:"]

    def test_that_an_editor_holds(self, run, monkeypatch):
        write("train.py", OLD)
        commit()
        write("elsewhere.txt", OLD + "x.cuda()\n")
        with Path("elsewhere.txt").open(encoding="utf-8") as file:
            monkeypatch.setattr("sys.stdin", file)
            assert run("-", "--stdin-filename", "train.py")[1] == ["train.py:5:1:"]

    def test_that_is_a_notebook_is_told_by_its_cells(self, run):
        def notebook(*cells: str, outputs: int = 0) -> str:
            made = [
                {
                    "cell_type": "code",
                    "metadata": {},
                    "execution_count": outputs,
                    "outputs": [],
                    "source": cell,
                }
                for cell in cells
            ]
            return json.dumps(
                {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1
            )

        write("train.ipynb", notebook(OLD + "x\n"))
        commit()
        write("train.ipynb", notebook("import torch", OLD + "x\n", outputs=7))
        assert run("-q") == (0, [], [])
        write("train.ipynb", notebook("import torch", OLD + "x\n", "x.cuda()\nx"))
        assert run()[1] == ["train.ipynb:cell 3:line 1:1:"]


class TestWhatAChangeBringsAbout:
    def test_on_a_line_that_did_not_change(self, run):
        moves = TRAIN.replace("from parts import build", "from torch import nn")
        moves = moves.replace("build()", "nn.Linear(2, 2)\nmodel.to('cpu')")
        write("train.py", moves + OLD)
        commit()
        write("train.py", moves.replace("'cpu'", "'cuda'") + OLD)
        assert run()[1] == ["train.py:6:13:"]

    def test_by_a_line_that_is_gone(self, run):
        after = (
            "import torch\n\nm = torch.nn.Linear(2, 2).cuda()\nx = torch.ones(1, 2)\nprint(m(x))\n"
        )
        write("train.py", after.replace("print", "x = x.cuda()\nprint") + OLD)
        commit()
        write("train.py", after + OLD)
        assert run()[1] == ["train.py:4:5:"]

    def test_in_another_file(self, run):
        write("parts.py", MODEL)
        write("train.py", TRAIN + OLD)
        commit()
        write("parts.py", MODEL.replace("nn.Linear(2, 2)", "nn.Linear(2, 2).cuda()"))
        assert run()[1] == ["train.py:5:13:"]
        commit()
        assert run()[1] == []


class TestFixes:
    def test_leave_old_lines_alone(self, run):
        old = OLD + "x = x + 1\n"
        write("train.py", old)
        write("same.py", old)
        commit()
        write("train.py", old + "y = x\ny.cuda()\nprint(y)\n")
        status, _, error = run("--fix", "--unsafe-fixes")
        after = Path("train.py").read_text(encoding="utf-8")
        assert after == old + "y = x\ny = y.cuda()\nprint(y)\n"
        assert Path("same.py").read_text(encoding="utf-8") == old
        assert status == 0
        assert "Hid 2 findings on lines unchanged since HEAD" in error

    def test_leave_what_a_baseline_knows_alone(self, run, capfd):
        old = OLD + "x = x + 1\n"
        write("train.py", old)
        assert main(["--write-baseline", "base.json"]) == 0
        write("train.py", old + "y = x\ny.cuda()\nprint(y)\n")
        assert main(["--fix", "--unsafe-fixes", "--baseline", "base.json"]) == 0
        after = Path("train.py").read_text(encoding="utf-8")
        assert after == old + "y = x\ny = y.cuda()\nprint(y)\n"


class TestMistakes:
    def told(self, run, *words: str, base: str = "HEAD") -> str:
        status, out, (line,) = run(*words, base=base)
        assert (status, out) == (2, [])
        return str(line)

    def test_no_such_revision(self, run):
        write("train.py", OLD)
        commit()
        git("tag", "release")
        assert self.told(run, base="releese") == (
            f'devicelint: --diff-base: there is no revision "releese" in {Path.cwd()};'
            ' did you mean "release"?'
        )

    def test_a_shallow_clone(self, run, monkeypatch):
        for number in range(2):
            write("train.py", OLD + f"# {number}\n")
            commit()
        git("clone", "-q", "--depth", "1", Path.cwd().as_uri(), "../shallow")
        monkeypatch.chdir("../shallow")
        assert self.told(run, base="HEAD~1").endswith(
            "; the clone is shallow: fetch more of its history, in GitHub Actions by fetch-depth: 0"
        )

    def test_no_history_in_common(self, run):
        write("train.py", OLD)
        commit()
        git("checkout", "-q", "--orphan", "other")
        write("train.py", "")
        commit()
        assert self.told(run, base="main") == (
            f'devicelint: --diff-base: "main" has no history in common with HEAD in {Path.cwd()}'
        )

    def test_no_repository(self, run, tmp_path, monkeypatch):
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        monkeypatch.chdir(tmp_path)
        write("a.py", OLD)
        write("b.py", OLD)
        assert self.told(run, "a.py", "b.py") == (
            f"devicelint: --diff-base: {tmp_path} is in no git repository"
        )

    def test_no_git(self, run, monkeypatch):
        monkeypatch.setenv("PATH", "")
        assert self.told(run) == "devicelint: --diff-base: git is not installed"

    def test_a_hook_of_another_repository_sends_nobody_astray(self, run, monkeypatch):
        write("train.py", OLD)
        commit()
        monkeypatch.setenv("GIT_DIR", "/nowhere")
        assert run("-q") == (0, [], [])


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("", "", []),
        ("a\nb\n", "a\nb\n", []),
        ("", "a\nb", [1, 2]),
        ("a\nb\n", "b\n", []),
        ("a\nb\nc\n", "a\nB\nc\nd", [2, 4]),
        ("a\r\nb", "a\nb", []),
        ("a\x0cb\n", "a\x0cc\n", [1]),
        ("\0", "\1\n\0", [1]),
    ],
)
def test_changed_lines(before, after, lines):
    assert sorted(changed_lines(before, after)) == lines
