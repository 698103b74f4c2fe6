"""Notebooks on the command line: what is printed where, what is written, and the exit status."""

import io
import json
import sys

import pytest

from devicelint import check
from devicelint.cli import main
from devicelint.finding import InputError
from devicelint.workspace import files
from devicelint.workspace.files import replace_file
from tests.notebooks.writing import markdown, notebook, sources, written

SETUP = """\
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(2, 2).to(device)"""
WRONG = "%matplotlib inline\nx = torch.ones(1, 2)\nmodel(x)  # é"
FIXED = WRONG.replace("(1, 2)", "(1, 2, device=device)")
MESSAGE = (
    "DEV103 `torch.ones(1, 2)` is created on the CPU, but is passed to module `model`, which is on"
    " cuda since line 4 of cell 2: create it with device="
)


def _with_accelerator(kind):
    cells = ["import torch", "x = torch.ones(2).cuda()"]
    return notebook(*cells, metadata={"accelerator": kind, "language_info": {"name": "python"}})


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "nb.ipynb"
    path.write_bytes(written(notebook(markdown("# Title"), SETUP, WRONG, "print 'x'")))
    return path


@pytest.fixture
def run(capfdbinary):
    def run_it(*words):
        status = main(words)
        out, error = capfdbinary.readouterr()
        return status, out.decode(), error.decode()

    return run_it


NOTE = "nb.ipynb:cell 4:line 1:1: cell is not checked: syntax error: "


def test_concise(run, file):
    status, out, error = run("--output-format", "concise", "nb.ipynb")
    assert (status, out) == (1, f"nb.ipynb:cell 3:line 2:5: {MESSAGE}\n")
    assert error.startswith(NOTE)
    assert error.endswith("Found 1 error; 1 fixable with --fix\n")


def test_text(run, file):
    _, out, _ = run("nb.ipynb")
    assert out.splitlines()[0] == (
        "nb.ipynb:cell 3:line 2:5: error " + MESSAGE.replace("DEV103", "DEV103 created-on-cpu:")
    )
    assert "2:4 | model = nn.Linear(2, 2).to(device)\n" in out
    assert "3:2 | x = torch.ones(1, 2)\n" in out
    assert "%%" not in out


def test_json(run, file):
    _, out, _ = run("--output-format", "json", "nb.ipynb")
    (finding,) = json.loads(out)
    assert finding["cell"] == 3
    assert finding["location"] == {"row": 2, "column": 5}
    assert finding["end_location"] == {"row": 2, "column": 21}
    assert finding["noqa_row"] == 2
    assert [(one["cell"], one["location"]["row"]) for one in finding["related"]] == [(2, 4), (3, 3)]
    assert [(one["cell"], one["location"]["row"]) for one in finding["fix"]["edits"]] == [(3, 2)]


def test_a_note_alone_is_no_failure(run, tmp_path):
    (tmp_path / "nb.ipynb").write_bytes(written(notebook(SETUP, "print 'x'")))
    status, out, error = run("nb.ipynb")
    assert (status, out) == (0, "")
    assert error.startswith("nb.ipynb:cell 2:line 1:1: cell is not checked: ")


@pytest.mark.parametrize("command", ["--fix", "adopt"])
def test_fix_and_adopt_write_the_cells(run, file, command):
    before = file.read_bytes()
    status, _, error = run(command, "nb.ipynb")
    assert status == 0
    assert "nb.ipynb:cell 3:line 2:5: fixed DEV103: Create it with `device=device`\n" in error
    assert file.read_bytes() == before.replace(b"ones(1, 2)", b"ones(1, 2, device=device)")
    assert sources(file.read_bytes())[2] == FIXED


def test_diff_shows_cells(run, file):
    before = file.read_bytes()
    status, out, _ = run("--diff", "nb.ipynb")
    assert status == 1
    assert out == (
        "--- a/nb.ipynb:cell 3\t\n+++ b/nb.ipynb:cell 3\t\n@@ -1,3 +1,3 @@\n %matplotlib inline\n"
        "-x = torch.ones(1, 2)\n+x = torch.ones(1, 2, device=device)\n model(x)  # é\n"
    )
    assert file.read_bytes() == before


def test_standard_input(run, file, monkeypatch):
    data = file.read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    status, out, _ = run("--fix", "-", "--stdin-filename", "nb.ipynb")
    assert status == 0
    assert sources(out)[2] == FIXED


def test_trace(run, file):
    status, out, _ = run("trace", "nb.ipynb")
    lines = [line.split(" | ")[-1] if " | " in line else line.rstrip() for line in out.splitlines()]
    assert status == 0
    assert lines == [
        "2:1  import torch",
        "2:2  from torch import nn",
        "device: cuda",
        "model: cuda, nn.Linear(2, 2): cpu -> cuda",
        "",
        "3:1  %matplotlib inline",
        "x: cpu",
        "3:3  model(x)  # é",
    ]


@pytest.mark.parametrize("place", ["nb.ipynb:3:3", "nb.ipynb:cell 3:line 3"])
def test_why(run, file, place):
    status, out, _ = run("why", place)
    assert status == 0
    assert out.startswith("nb.ipynb:cell 3:line 3: model(x)  # é\n")
    assert "\n    nb.ipynb:cell 3:line 2:5: created on cpu here\n" in out


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("nb.ipynb:3", "nb.ipynb:3:1: is a notebook: name the cell, FILE:CELL:LINE\n"),
        ("nb.ipynb:4:1", "nb.ipynb:cell 4:line 1:1: no such line of Python code\n"),
        ("nb.ipynb:3:9", "nb.ipynb:cell 3:line 9:1: no such line of Python code\n"),
    ],
)
def test_why_of_no_line(run, file, place, told):
    status, out, error = run("why", place)
    assert (status, out) == (2, "")
    assert error.endswith(told)


def test_a_folder_is_searched_for_notebooks_and_not_for_markdown(run, file, tmp_path):
    checkpoints = tmp_path / ".ipynb_checkpoints"
    checkpoints.mkdir()
    (checkpoints / "nb-checkpoint.ipynb").write_bytes(file.read_bytes())
    (tmp_path / "README.md").write_text(f"```python\n{SETUP}\nmodel(torch.ones(1, 2))\n```\n")
    _, out, _ = run("--output-format", "concise", ".")
    assert out == f"nb.ipynb:cell 3:line 2:5: {MESSAGE}\n"
    status, out, _ = run("--output-format", "concise", "README.md")
    assert status == 1
    assert out.startswith("README.md:6:7: DEV103 ")


def test_what_is_no_notebook_is_told_and_the_others_are_checked(run, file, tmp_path):
    (tmp_path / "a.ipynb").write_bytes(b"{")
    status, out, error = run("--output-format", "concise", ".")
    assert status == 2
    assert out == f"nb.ipynb:cell 3:line 2:5: {MESSAGE}\n"
    assert error.startswith("a.ipynb:1:2: is no notebook: its JSON is broken: ")


def test_a_notebook_is_written_only_where_it_stays_valid(file):
    before = file.read_bytes()
    with pytest.raises(InputError, match="would be no valid notebook any more"):
        replace_file(file, before.replace(b'"outputs"', b'"output"'))
    assert file.read_bytes() == before


def test_from_python():
    (finding,) = check(written(notebook(SETUP, WRONG)).decode(), "nb.ipynb").findings
    assert finding.code == "DEV103"


def test_a_notebook_may_be_larger_than_a_script_and_not_without_end(run, file, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_FILE", 100)
    assert run("nb.ipynb")[0] == 1
    monkeypatch.setattr(files, "LARGEST_NOTEBOOK", 100)
    status, out, error = run("nb.ipynb")
    assert (status, out) == (2, "")
    assert error.startswith("nb.ipynb:1:1: is too large to be a program (")


def test_the_files_around_a_notebook_are_followed(run, file, tmp_path):
    (tmp_path / "data.py").write_text(
        "import torch\n\n\ndef batch():\n    return torch.ones(1, 2)\n"
    )
    cells = SETUP + "\nfrom data import batch", "x = batch()\nmodel(x)"
    file.write_bytes(written(notebook(*cells)))
    status, out, _ = run("--output-format", "concise", "nb.ipynb")
    assert status == 1
    assert out.startswith(
        "nb.ipynb:cell 2:line 2:7: DEV101 `x` is on the CPU since line 5 of data.py"
    )


@pytest.mark.parametrize(("kind", "expected"), [("GPU", []), ("TPU", []), ("None", ["DEV409"])])
def test_says_which_machine_it_is_for(kind, expected):
    found = check(written(_with_accelerator(kind)).decode(), "colab.ipynb").findings
    assert [finding.code for finding in found] == expected
