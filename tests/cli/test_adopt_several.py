"""`devicelint adopt PATH… --entry FILE`: what is changed in which file, all of it or nothing."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from devicelint.cli import main
from devicelint.config import Config
from devicelint.linter.fix_files import fix_files
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project

FILES = {
    "train.py": """\
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

from lib.engine import train


def main():
    model = nn.Linear(8, 4)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(32, 8), torch.randint(0, 4, (32,)))
    train(model, DataLoader(data, batch_size=8), optimizer)


if __name__ == "__main__":
    main()
""",
    "lib/engine.py": """\
from torch.nn import functional as F


def train(model, loader, optimizer):
    for inputs, targets in loader:
        loss = F.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "lib/names.py": "CLASSES = 4\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def texts() -> dict[str, str]:
    return {path.as_posix(): path.read_text() for path in sorted(Path().rglob("*.py"))}


def adopt(*words: str) -> int:
    return main(["adopt", *words])


def test_every_file_that_has_to_change_does(project, capsys):
    assert adopt(".", "--entry", "train.py") == 0
    after = texts()
    assert "model = nn.Linear(8, 4).to(device)" in after["train.py"]
    assert "inputs = inputs.to(" in after["lib/engine.py"]
    assert "targets = targets.to(" in after["lib/engine.py"]
    assert after["lib/names.py"] == FILES["lib/names.py"]
    assert "Adopted 2 files" in capsys.readouterr().err


def test_a_folder_is_adopted_script_by_script(project, capsys):
    adopt(".", "--entry", "train.py")
    led = texts()
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert adopt(".") == 0
    assert texts() == led
    assert "Adopted 2 files" in capsys.readouterr().err
    assert adopt(".") == 0
    assert texts() == led


def test_a_folder_shows_what_it_would_change_in_all_files(project, capsys):
    assert adopt("--diff", ".") == 1
    shown = capsys.readouterr().out
    assert "+++ b/train.py" in shown
    assert "+++ b/lib/engine.py" in shown
    assert texts() == FILES


def test_two_scripts_share_what_they_lead_to(project, capsys):
    Path("again.py").write_text(FILES["train.py"], encoding="utf-8")
    assert adopt(".") == 0
    after = texts()
    assert after["again.py"] == after["train.py"]
    assert after["lib/engine.py"].count("device=None") == 1
    assert "Adopted 3 files" in capsys.readouterr().err


def test_a_folder_is_left_as_it_was_where_a_file_cannot_be_written(project, capsys, monkeypatch):
    def fail(changed: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("devicelint.cli.commands.adopt_entry.replace_files", fail)
    assert adopt(".") == 2
    assert texts() == FILES
    assert "no space left" in capsys.readouterr().err


@pytest.mark.parametrize("mode", [[], ["--diff"], ["--check"]])
def test_a_script_alone_names_what_it_leaves_in_its_imports(project, capsys, mode):
    Path("lib/engine.py").write_text(
        """\
import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 4, batch_first=True)

    def forward(self, x):
        return self.rnn(x, torch.zeros(1, x.shape[0], 4))[0]
""",
        encoding="utf-8",
    )
    Path("train.py").write_text(
        """\
import torch
from torch import optim

from lib.engine import Recurrent

model = Recurrent()
optimizer = optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    model(torch.randn(2, 5, 8)).mean().backward()
    optimizer.step()
""",
        encoding="utf-8",
    )
    assert adopt("train.py", *mode) == 1
    told = capsys.readouterr().err
    assert "lib/engine.py:11:28: left DEV103: train.py leads here" in told
    assert "`devicelint adopt . --entry train.py`" in told
    assert "1 left to you" in told
    assert adopt(".", "--entry", "train.py") == 0
    assert "device=" in Path("lib/engine.py").read_text()


def test_adopting_twice_is_adopting_once(project, capsys):
    adopt(".", "--entry", "train.py")
    once = texts()
    assert adopt(".", "--entry", "train.py") == 0
    assert texts() == once
    assert "Nothing to adopt in 2 files" in capsys.readouterr().err


def test_what_is_adopted_checks_clean(project, capsys):
    adopt(".", "--entry", "train.py")
    assert main(["check", "."]) == 0


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_nothing_is_written_where_nothing_should_be(project, capsys, option):
    assert adopt(".", "--entry", "train.py", option) == 1
    assert texts() == FILES
    told = "".join(capsys.readouterr())
    assert "train.py" in told
    assert "lib/engine.py" in told
    assert "names" not in told


def test_a_read_only_file_keeps_all_from_being_written(project, capsys):
    Path("lib/engine.py").chmod(0o444)
    assert adopt(".", "--entry", "train.py") == 2
    assert texts() == FILES
    told = "lib/engine.py:1:1: is read-only; none of the 2 files is changed"
    assert capsys.readouterr().err.splitlines() == [told]


def test_a_rename_that_fails_takes_the_others_back(project, monkeypatch, capsys):
    replace = Path.replace

    def refuse(path, target):
        if Path(target).name == "engine.py":
            raise OSError(28, "No space left on device")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", refuse)
    assert adopt(".", "--entry", "train.py") == 2
    assert texts() == FILES
    told = "cannot be written: No space left on device; none of the 2 files is changed"
    assert capsys.readouterr().err.splitlines() == [f"lib/engine.py:1:1: {told}"]


def test_a_file_that_does_not_parse_is_told_and_left(project, capsys):
    Path("lib/broken.py").write_text("def (:\n", encoding="utf-8")
    with Path("train.py").open("a", encoding="utf-8") as script:
        script.write("    from lib.broken import names\n")
    assert adopt(".", "--entry", "train.py") == 2
    assert Path("lib/broken.py").read_text() == "def (:\n"
    assert "inputs.to(" in texts()["lib/engine.py"]
    assert capsys.readouterr().err.startswith("lib/broken.py:1:")


def test_what_the_script_does_not_lead_to_stays_as_it_is(project, capsys):
    text = "import sys\nimport torch\n\nmodel = torch.nn.Linear(1, 1)\n"
    text += "model.to('cuda' if torch.cuda.is_available() else 'cpu')\n"
    text += "model.load_state_dict(torch.load(sys.argv[1]))\n"
    Path("export.py").write_text(text, encoding="utf-8")
    adopt(".", "--entry", "train.py")
    assert "map_location" not in Path("export.py").read_text()
    main(["check", "--fix", "export.py"])
    assert "map_location" in Path("export.py").read_text()


def test_the_script_may_be_named_from_the_folder(project, monkeypatch, capsys):
    monkeypatch.chdir(project.parent)
    assert adopt(project.name, "--entry", "train.py") == 0
    assert "inputs.to(" in (project / "lib/engine.py").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((".", "--entry", "none.py"), "--entry: there is no none.py here, nor in ."),
        (("-", "--entry", "train.py"), "--entry names a file among others: give paths"),
        (
            (".", "--entry", "train.py", "--interactive"),
            "--interactive asks about one file at a time: give it without --entry",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(project, capsys, words, told):
    assert adopt(*words) == 2
    assert told in capsys.readouterr().err
    assert texts() == FILES


def test_a_notebook_may_lead(project, capsys):
    setup, main_part = FILES["train.py"].split("def main():\n")
    steps = textwrap.dedent(main_part.partition("\n\n\n")[0])
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": one}
        for one in (setup.rstrip(), steps)
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    Path("train.ipynb").write_text(json.dumps(book), encoding="utf-8")
    assert adopt(".", "--entry", "train.ipynb") == 0
    _, after = json.loads(Path("train.ipynb").read_text(encoding="utf-8"))["cells"]
    assert "nn.Linear(8, 4).to(device)" in "".join(after["source"])
    assert "optimizer, device=device)" in "".join(after["source"])
    assert "inputs = inputs.to(device)" in texts()["lib/engine.py"]
    assert texts()["train.py"] == FILES["train.py"]


def sources() -> list[SourceFile]:
    return [SourceFile.from_text(text, name) for name, text in FILES.items()]


def test_a_suppressed_finding_of_another_file_stays(project):
    text = FILES["lib/engine.py"].replace("targets)\n", "targets)  # devicelint: ignore\n")
    files = [sources()[0], SourceFile.from_text(text, "lib/engine.py")]
    _, engine = fix_files(files, lambda _: Config().for_adoption(), Project(), has_entry=True)
    assert engine.after.text == text
    assert len(engine.suppressed) == 2


def test_without_a_leading_script_each_file_is_judged_by_itself(project):
    fixed = fix_files(sources(), lambda _: Config(), Project())
    assert [one.after.text for one in fixed] == list(FILES.values())


def test_the_project_forgets_what_is_not_written(project):
    held = Project()
    fix_files(sources(), lambda _: Config().for_adoption(), held, has_entry=True)
    program = held.program(str(project / "lib/engine.py"))
    assert program is not None
    assert program.text == FILES["lib/engine.py"]


def test_a_diff_names_what_is_left_with_the_reason(project, capsys):
    (project / "spread.py").write_text(
        "import torch\nfirst = torch.nn.Linear(2, 2).cuda(0)\nsecond = torch.ones(2).to('cuda:1')\n"
    )
    main(["adopt", "--diff", "spread.py"])
    told = capsys.readouterr().err
    assert "spread.py:2:9: not fixed DEV409: its fix is unsafe" in told
    assert "the program uses several devices" in told
    assert "Nothing to adopt in 1 file; 2 left to you" in told


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import json\n", "nothing there uses torch"),
        ("import torch\nx = torch.ones(2)\n", "nothing is trained or sent to an accelerator"),
    ],
)
def test_nothing_is_adopted_for_a_reason(text, reason, project, capsys):
    (project / "idle.py").write_text(text)
    assert main(["adopt", "idle.py"]) == 0
    assert f"Nothing to adopt in 1 file: {reason}" in capsys.readouterr().err
