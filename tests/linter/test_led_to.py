"""What a program shows of the files that it imports is reported there, and fixed there."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.config import Config
from devicelint.linter import lint
from devicelint.text.source import SourceFile
from devicelint.views import editor
from devicelint.workspace import users
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project
from tests.tagger import MODEL, TRAIN, write_tagger


@pytest.fixture
def model(tmp_path: Path) -> SourceFile:
    """A file that a program leads to."""
    return read_source(write_tagger(tmp_path))


def test_it_stands_in_the_file_that_has_to_change(model: SourceFile) -> None:
    (found,) = lint.check(model, Config(), Project()).findings
    assert found.code == "DEV103"
    assert model.location(found.span.start).line == 11
    assert [(one.path.rpartition("/")[2], one.line) for one in found.elsewhere] == [("train.py", 5)]


def test_the_program_does_not_say_it_again(model: SourceFile) -> None:
    train = read_source(Path(model.path).with_name("train.py"))
    assert lint.check(train, Config(), Project()).findings == ()


def test_a_file_alone_is_silent(model: SourceFile) -> None:
    assert lint.check(model).findings == ()


def test_its_fix_is_tried_on_what_the_program_does(model: SourceFile) -> None:
    fixed = lint.fix(model, Config(), Project())
    assert "torch.zeros(1, size, 8, device=" in fixed.after.text
    assert fixed.remaining == ()


def test_a_comment_suppresses_it_there(model: SourceFile) -> None:
    text = MODEL.replace("size, 8)\n", "size, 8)  # devicelint: ignore[DEV103]\n", 1)
    Path(model.path).write_text(text)
    checked = lint.check(read_source(Path(model.path)), Config(), Project())
    assert (checked.findings, len(checked.suppressed)) == ((), 1)


def test_a_file_that_is_skipped_is_silent(model: SourceFile) -> None:
    Path(model.path).write_text(f"# devicelint: skip-file\n{MODEL}")
    assert lint.check(read_source(Path(model.path)), Config(), Project()).findings == ()


def test_a_program_that_cannot_be_parsed_shows_nothing(model: SourceFile) -> None:
    Path(model.path).with_name("train.py").write_text(TRAIN + ")\n")
    assert lint.check(model, Config(), Project()).findings == ()


def test_an_editor_shows_it_once_the_file_is_saved(model: SourceFile) -> None:
    saved, _ = editor.analyse(model, Config(), Project())
    typed, _ = editor.analyse(SourceFile.from_text(f"{MODEL}\n", model.path), Config(), Project())
    assert ([one.code for one in saved.findings], typed.findings) == (["DEV103"], ())


def test_who_imports_a_file_itself_is_asked_first(tmp_path: Path) -> None:
    loop = "for _ in range(2):\n    pass\n"
    texts = {
        "pyproject.toml": "",
        "model.py": "import torch\n",
        "helper.py": "import torch\nimport model\n",
        "a_far.py": f"import torch\nimport helper\n{loop}",
        "test_model.py": "import torch\nimport model\n",
        "train.py": f"import torch\nimport model\n{loop}",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    leading = users.leading_to(Project(), str(tmp_path / "model.py"))
    assert [Path(one).name for one in leading] == ["train.py", "test_model.py", "a_far.py"]


NOISE = """\
import torch


def noise(shape):
    return torch.randn(shape, device="cuda")
"""
SAMPLE = """\
import torch
from noise import noise

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for _ in range(2):
    print(torch.ones(3, device=device) + noise(3))
"""


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (SAMPLE, ["DEV401"]),
        (SAMPLE.replace("    print", "    if device.type == 'cuda':\n        print"), []),
    ],
)
def test_what_a_program_that_chooses_leads_to_has_to_choose_too(
    tmp_path: Path, program: str, expected: list[str]
) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "noise.py").write_text(NOISE)
    (tmp_path / "sample.py").write_text(program)
    found = lint.check(read_source(tmp_path / "noise.py"), Config(), Project()).findings
    assert [one.code for one in found] == expected
