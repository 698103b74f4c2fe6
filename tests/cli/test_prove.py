"""`--prove`: what is run, what is printed of it, and the exit status.

Most tests put the toy of `test_cli` in the place of the engine. Its scripts need no torch, so that
a run of theirs, on each of the machines, takes a tenth of a second.
"""

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from devicelint.cli import main
from devicelint.cli.run import proof
from devicelint.linter import lint
from devicelint.output import proof as proof_report
from devicelint.text.source import SourceFile
from devicelint.workspace.project import home_of
from tests.cli.test_check import toy_check, toy_fix

SCRIPT = """\
import sys
if sys.argv[1:] != ["--lr", "1 e"]:
    sys.exit("what arguments")
WRONG = 1
right
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    Path("train.py").write_text(SCRIPT)
    return tmp_path


@pytest.fixture
def run(capfdbinary, monkeypatch):
    monkeypatch.setattr(lint, "check", toy_check)
    monkeypatch.setattr(lint, "fix", toy_fix)

    def run_it(*words):
        status = main(words)
        out, error = capfdbinary.readouterr()
        return status, out.decode(), error.decode()

    return run_it


FILES = "--prove runs scripts: give files, or adopt a program with --entry FILE"
PROVE = ("--prove", "--prove-args", "--lr '1 e'", "train.py")
TABLE = """\
in 3 steps   before                                           after
CPU only     line 5: NameError: name 'right' is not defined   passes; no optimizer made a step
1 GPU        line 5: NameError: name 'right' is not defined   passes; no optimizer made a step
2 GPUs       line 5: NameError: name 'right' is not defined   passes; no optimizer made a step
Losses not compared: the script fails before the change
"""


def test_the_script_is_run_before_and_after_its_fixes(run):
    status, out, error = run("--fix", *PROVE)
    assert (status, out, error) == (
        0,
        TABLE,
        "train.py:4:1: fixed DEV104: fix it\nFixed 1 finding in 1 file\n",
    )
    assert Path("train.py").read_text() == SCRIPT.replace("WRONG", "right")
    assert [path.name for path in Path().iterdir()] == ["train.py"]


def test_with_diff_what_would_be_is_run_and_nothing_is_written(run):
    status, out, error = run("--diff", *PROVE)
    assert status == 1
    assert out.startswith("--- a/train.py\n")
    assert "CPU only" not in out
    assert error == f"{TABLE}Would fix 1 finding in 1 file\n"
    assert Path("train.py").read_text() == SCRIPT


def test_where_nothing_is_fixed_the_script_is_run_as_it_is(run):
    Path("train.py").write_text("print(1)\n")
    status, out, error = run("--fix", "--prove", "--prove-steps", "1", "train.py")
    assert status == 0
    assert out.startswith("in 1 step   as it is\nCPU only    passes; no optimizer made a step\n")
    assert error == "No device mistakes found in 1 file (without torch, not parsed)\n"


def test_what_fails_where_it_must_not_is_told(run):
    status, out, error = run("--fix", "--prove", "-q", "--exit-zero", "train.py")
    assert status == 1
    assert "1 GPU        what arguments   what arguments\n" in out
    assert out.endswith(
        "No run reached the new code on line 4: use --prove-steps for more training steps\n"
    )
    said = [f"{machine}: the script fails" for machine in ("CPU only", "1 GPU", "2 GPUs")]
    said.append("no run reached the new code on line 4")
    assert error == "".join(f"devicelint: not proven: {one}\n" for one in said)


TRAINS = """\
import torch
weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(5):
    weight.sum().backward()
    optimizer.step()
WRONG = 1
"""


def test_runs_make_more_steps_until_they_come_to_what_is_new(run):
    Path("train.py").write_text(TRAINS)
    status, out, error = run("--fix", "--prove", "train.py")
    assert "line 7 not reached in 3 steps: now 30\n" in error
    assert out.startswith("in 30 steps ")
    assert (status, "not proven" in error) == (0, False)


def test_what_no_run_came_to_is_not_proven(run):
    Path("train.py").write_text(TRAINS)
    status, out, error = run("--fix", "--prove", "--prove-steps", "3", "train.py")
    assert status == 1
    assert "devicelint: not proven: no run reached the new code on line 7\n" in error
    assert out.startswith("in 3 steps ")


def test_findings_that_are_left_decide_as_ever(run):
    Path("train.py").write_text("STUCK = 1\n")
    assert run("--fix", "--prove", "train.py")[0] == 1
    assert run("--fix", "--prove", "--exit-zero", "train.py")[0] == 0


def test_as_json_the_proof_stands_beside_the_findings(run):
    Path("train.py").write_text(SCRIPT + "STUCK = 2\n")
    status, out, _ = run("--fix", "--output-format", "json", *PROVE)
    document = json.loads(out)
    assert status == 1
    assert [finding["code"] for finding in document["findings"]] == ["DEV401"]
    assert [(each["machine"], each["ending"]) for each in document["proof"]["after"]] == [
        ("CPU only", "passed"),
        ("1 GPU", "passed"),
        ("2 GPUs", "passed"),
    ]
    assert document["proof"]["changed_lines"] == [4]
    assert document["proof"]["unreached_lines"] == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "--prove train.py",
            "--prove runs what --fix or --diff makes of a script: give one of them",
        ),
        ("--fix --prove", FILES),
        ("--fix --prove .", FILES),
        ("--fix --prove -", FILES),
        ("adopt --prove train.py .", FILES),
        (
            "--fix --prove --prove-steps 0 train.py",
            "argument --prove-steps: '0' is not a whole number, 1 or more",
        ),
        (
            "--fix --prove --prove-timeout no train.py",
            "argument --prove-timeout: 'no' is not a number of seconds, above 0",
        ),
        (
            "--fix --prove --prove-args=' train.py",
            'argument --prove-args: "\'" cannot be split into words: No closing quotation',
        ),
        (
            "--fix --prove-setps 2 train.py",
            'there is no option "--prove-setps"; did you mean "--prove-steps"?',
        ),
    ],
)
def test_what_makes_no_sense_is_answered_in_one_line_and_nothing_is_written(run, line, message):
    assert run(*line.split(" ")) == (2, "", f"devicelint: {message}\n")
    assert Path("train.py").read_text() == SCRIPT


def test_options_of_a_proof_that_is_not_asked_for(run):
    status, _, error = run("--fix", "--prove-steps", "3", "train.py")
    assert status == 0
    assert error.startswith("devicelint: --prove-steps changes nothing without --prove\n")


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (("torch",), "PyTorch"),
        (("torch", "runtime_guard"), "runtime_guard and PyTorch"),
    ],
)
def test_without_what_runs_scripts_it_says_what_to_install(run, monkeypatch, missing, said):
    monkeypatch.setattr(proof, "find_spec", lambda name: None if name in missing else name)
    message = f"--prove needs {said}, not installed here: pip install 'devicelint[guard]'"
    assert run("--fix", "--prove", "train.py") == (2, "", f"devicelint: {message}\n")
    assert Path("train.py").read_text() == SCRIPT


@pytest.mark.parametrize(
    ("stderr", "told"),
    [
        (b"warning\nruntime_guard prove: no\n", "runtime_guard prove: no"),
        (b"", "runtime_guard ended with status -9"),
    ],
)
def test_a_proof_that_does_not_come_about(run, monkeypatch, stderr, told):
    died = SimpleNamespace(stdout=b"", stderr=stderr, returncode=-9)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: died)
    status, _, error = run("--fix", "--prove", "train.py")
    assert status == 2
    assert f"train.py:1:1: nothing is proven: {told}\n" in error


def test_a_file_that_cannot_be_checked_is_not_run(run, monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    Path("train.py").write_text("BROKEN\n")
    assert run("--fix", "--prove", "train.py") == (2, "", "train.py:3:5: invalid syntax\n")
    assert run("--fix", "--prove", "nowhere.py")[0] == 2


def test_a_name_that_begins_with_a_dash(run):
    Path("-x.py").write_text("WRONG = 1\n")
    assert run("--fix", "--prove", "--", "-x.py")[0] == 0


def told(*words):
    return [{"machine": name, "told": word, "ending": "failed"} for name, word in enumerate(words)]


def test_a_proof_in_colour_obeys_nothing_in_what_it_shows():
    document = {
        "before": None,
        "after": told("\x1b[2J[red]"),
        "steps": 2,
        "losses": {"verdict": "changed", "told": "the \x1b[2J loss"},
        "unreached_lines": [],
        "unreached_elsewhere": ["\x1b.py:1"],
    }
    document["after"][0]["machine"] = "1 GPU"
    plain = proof_report.render(document)
    assert plain.splitlines()[1:] == [
        r"1 GPU        \x1b[2J[red]",
        r"The \x1b[2J loss",
        r"No run reached the new code on \x1b.py:1: use --prove-steps for more training steps",
    ]
    coloured = proof_report.render(document, lambda text, style: text)
    assert "\x1b[31m\\x1b[2J[red]" in coloured


def test_several_files_are_in_place_for_what_is_run(run):
    Path("net.py").write_text("WRONG = 7\n")
    Path("train.py").write_text("import net\nWRONG = 1\nassert net.right\n")
    Path("other.py").write_text("print(1)\n")
    status, _, error = run("--diff", "--prove", "net.py", "train.py", "other.py")
    assert status == 1
    lines = error.splitlines()
    assert [line for line in lines if line.endswith(".py")] == ["net.py", "train.py", "other.py"]
    # Before, there is no `net.right`.
    cpu_only = lines[lines.index("train.py") + 2]
    assert "line 3: AttributeError: module 'net' has no" in cpu_only
    assert cpu_only.endswith("passes; no optimizer made a step")
    assert Path("net.py").read_text() == "WRONG = 7\n"


def test_what_no_other_file_imports_is_run():
    files: list[Any] = [
        SimpleNamespace(after=SourceFile.from_text("", name)) for name in ("a.py", "b.py")
    ]
    one, other = (home_of(each.after) for each in files)
    imports = {"a.py": {other}, "b.py": set()}
    project: Any = SimpleNamespace(imported_from=lambda source: imports[source.path])

    def chosen(entry=None):
        options: Any = SimpleNamespace(entry=entry)
        scripts = proof.scripts(files, options, project)
        return [each.after.path for each in scripts]

    assert chosen() == ["a.py"]
    assert chosen("a.py") == ["a.py"]
    imports["b.py"] = {one}
    assert chosen() == ["a.py", "b.py"]
    imports["a.py"] = imports["b.py"] = set()
    assert chosen() == ["a.py", "b.py"]
    assert chosen("a.py") == ["a.py"]


NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 2)
        self.mask = torch.tensor([1.0, 0.0])

    def forward(self, x):
        return self.linear(x) * self.mask
"""

PROGRAM = """\
import torch
from net import Net

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    optimizer.zero_grad()
    model(torch.rand(3, 4)).sum().backward()
    optimizer.step()
"""


def test_a_batch_that_is_not_moved(capfd, monkeypatch):
    """The engine as it is, and torch; another mistake lies in a file that the script imports."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    Path("net.py").write_text(NET)
    Path("train.py").write_text(PROGRAM)
    words = "--fix --unsafe-fixes --prove --prove-steps 1 --output-format json train.py net.py"
    status = main(words.split())
    out, _ = capfd.readouterr()
    document = json.loads(out)
    found = document["proof"]
    assert status == 0
    assert document["findings"] == []
    assert found["script"] == "train.py"
    assert [each["ending"] for each in found["before"]] == ["passed", "failed", "failed"]
    assert [each["told"][:37] for each in found["before"]] == [
        "1 step, parameters on the CPU",
        "net.py:12: RuntimeError: Expected all",
        "net.py:12: RuntimeError: Expected all",
    ]
    assert [each["told"] for each in found["after"]] == [
        "1 step, parameters on the CPU",
        "1 step, parameters on cuda:0",
        "1 step, parameters on cuda:0",
    ]
    assert found["losses"] == {"verdict": "unchanged", "told": "losses unchanged (1 step)"}
    assert (found["unreached_lines"], found["unreached_elsewhere"]) == ([], [])
    assert "register_buffer" in Path("net.py").read_text()


CELLS = (
    "import torch\n%matplotlib inline\n",
    "!nvidia-smi\nprint(torch.rand(1))\ndisplay(get_ipython())\nopen('none.csv')",
)


def test_the_cells_of_a_notebook_are_run_as_one_script(capfd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": one} for one in CELLS]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    Path("book.ipynb").write_text(json.dumps(book))
    status = main(["adopt", "--prove", "--output-format", "json", "book.ipynb"])
    out, error = capfd.readouterr()
    found = json.loads(out)["proof"]
    told = "line 4 of cell 2: FileNotFoundError: [Errno 2] No such file or directory: 'none.csv'"
    assert [run["told"] for run in found["after"]] == [told] * 3
    assert status == 1
    assert error.splitlines()[0] == (
        "devicelint: not proven: the script reads data that is not here ([Errno 2] No such file or "
        "directory: 'none.csv')"
    )


def test_what_is_run_of_a_file_that_holds_more_than_python():
    page = "# Page\n\n```python\nimport torch\nx = torch.ones(1)\n```\n\nText.\n"
    ran = proof.runnable(SourceFile.from_text(page, "page.md")).decode()
    assert ran.split("\n")[3:5] == ["import torch", "x = torch.ones(1)"]
    assert ran.count("\n") == page.count("\n")
    assert proof.runnable(SourceFile.from_text("x = 1\n", "a.py")) == b"x = 1\n"
