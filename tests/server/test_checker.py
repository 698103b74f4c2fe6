"""What is walked when somebody types: only what may show something else than before."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.config import Config
from devicelint.finding import Finding
from devicelint.interpreter import explore
from devicelint.linter import lint
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.checker import Checker
from devicelint.server.lines import Lines
from devicelint.server.open_documents import OpenFile, Part
from devicelint.text.source import SourceFile
from devicelint.views.editor import OwnAnalysis
from devicelint.workspace.project import Project
from tests.tagger import MODEL, TRAIN

LAYERS = '''\
import torch


def bias():
    """A bias."""
    return torch.zeros(3, device="cpu")
'''
MAIN = '''\
"""Train a layer."""

import torch
from layers import bias

assert torch.cuda.is_available()


def train(model):
    """Train it."""
    x = torch.ones(3)
    return model(x.to("cuda"))  # the input


model = torch.nn.Linear(3, 1).to("cuda")
print(model(torch.ones(4, 3)))
print(train(model) + bias())
'''
OTHER = "import torch\n\nx = torch.ones(3)\n"


def never() -> bool:
    return False


class Editing:
    """A folder of open files, and how often each was walked."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        self.texts = files
        self.checker = Checker()
        self.walked: list[str] = []
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)

    def check(self, name: str, old: str = "", new: str = "") -> DocumentAnalysis:
        """Change a file as it is open, and check it."""
        assert old in self.texts[name]
        if old:
            self.texts[name] = self.texts[name].replace(old, new, 1)
        path = self.folder / name
        part = Part(path.as_uri(), 1, Lines(self.texts[name]))
        return self.checker.analyse(OpenFile(path.as_uri(), str(path), part), Config(), never)

    def fresh(self, name: str) -> tuple[Finding, ...]:
        """What a check from scratch finds, with the texts as they are open."""
        project = Project()
        for one, text in self.texts.items():
            project.hold(SourceFile.from_text(text, str(self.folder / one)))
        source = SourceFile.from_text(self.texts[name], str(self.folder / name))
        return lint.check(source, Config(), project).findings


@pytest.fixture
def editing(tmp_path, monkeypatch) -> Editing:
    made = Editing(tmp_path, {"main.py": MAIN, "layers.py": LAYERS, "other.py": OTHER})

    def counting(program, *given):
        made.walked.append(Path(program.path).name)
        return explore(program, *given)

    monkeypatch.setattr("devicelint.views.editor.explore", counting)
    return made


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # the input", ""),
        ("import torch\n", "\n\nimport torch  # of old\n"),
        ("    x = torch", "\n    # Made.\n    x = torch"),
        ("Train it.", "Train it for long."),
        ("print(", "\nprint("),
    ],
)
def test_a_change_of_the_layout_walks_nothing_and_moves_what_was_found(editing, old, new):
    first = editing.check("main.py")
    now = editing.check("main.py", old, new)
    assert editing.walked == ["main.py"]
    assert now.is_same_code
    assert not first.is_same_code
    assert len(now.findings) == 2
    assert now.findings == editing.fresh("main.py")
    again = Checker().analyse(now.document, Config(), never)
    assert [*now.marks()] == [*again.marks()]
    assert [one.whereabouts for one in now.snapshots] == [
        one.whereabouts for one in again.snapshots
    ]


@pytest.mark.parametrize("name", ["class_weights", "layers_in_a_list", "validation_not_moved"])
def test_an_example_is_shown_as_from_scratch_after_each_change_of_its_layout(tmp_path, name):
    text = Path(f"examples/broken/{name}.py").read_text()
    editing = Editing(tmp_path, {"train.py": text})
    editing.check("train.py")
    lines = [line for line in text.splitlines() if line.startswith("    ") and line.endswith(")")]
    kept = []
    for line in lines[::3]:
        blanks = line[: len(line) - len(line.lstrip())]
        now = editing.check("train.py", line, f"\n{blanks}# Well.\n{line}  # so")
        kept.append(now.is_same_code)  # A comment in an expression is a part of its code.
        again = Checker().analyse(now.document, Config(), never)
        assert now.findings == again.findings
        assert [*now.marks()] == [*again.marks()]
    assert any(kept)


def test_a_change_of_the_code_walks_it(editing):
    editing.check("main.py")
    now = editing.check("main.py", "torch.ones(4, 3)", 'torch.ones(4, 3, device="cuda")')
    assert editing.walked == ["main.py", "main.py"]
    assert not now.is_same_code
    assert now.findings == editing.fresh("main.py")
    assert len(now.findings) == 1


def test_what_is_undone_is_walked_again_and_then_known(editing):
    editing.check("main.py")
    editing.check("main.py", "(4, 3)", "(4, 4)")
    editing.check("main.py", "(4, 4)", "(4, 3)")
    now = editing.check("main.py", "# the input", "# input")
    assert editing.walked == ["main.py"] * 3
    assert now.findings == editing.fresh("main.py")


def test_a_comment_suppresses_without_a_walk(editing):
    code = editing.check("main.py").findings[-1].code
    now = editing.check("main.py", " bias())\n", f" bias())  # devicelint: ignore[{code}]\n")
    assert editing.walked == ["main.py"]
    assert now.findings == editing.fresh("main.py")
    assert len(now.findings) == 1


def test_a_comment_that_asks_for_a_rule_has_the_file_walked_for_it(editing):
    editing.check("main.py")
    editing.check("main.py", "# the input", "# devicelint: ignore[unknown-input]")
    assert editing.walked == ["main.py", "main.py"]


def test_other_settings_have_the_file_walked(editing):
    document = editing.check("main.py").document
    editing.checker.analyse(document, Config(select=("DEV1",)), never)
    assert editing.walked == ["main.py", "main.py"]


def test_a_file_is_walked_again_where_the_code_that_it_looks_at_changes(editing):
    for name in ("layers.py", "other.py", "main.py"):
        editing.check(name)
    editing.walked.clear()
    editing.check("other.py", "ones", "zeros")
    editing.check("layers.py", "A bias.", "The bias.")
    editing.check("layers.py", "    return", "\n    return")
    now = editing.check("main.py")
    assert editing.walked == ["other.py"]
    assert now.is_same_code
    assert now.findings == editing.fresh("main.py")
    editing.check("layers.py", 'device="cpu"', 'device="cuda"')
    now = editing.check("main.py")
    assert editing.walked == ["other.py", "layers.py", "main.py"]
    assert now.findings == editing.fresh("main.py")
    assert len(now.findings) == 1


def test_a_file_on_the_disk_counts_as_well(editing):
    assert len(editing.check("main.py").findings) == 2
    text = LAYERS.replace('device="cpu"', 'device="cuda"')
    (editing.folder / "layers.py").write_text(text)
    assert len(editing.check("main.py", "# the input", "#").findings) == 1
    assert editing.walked == ["main.py", "main.py"]


def test_a_file_that_becomes_readable_counts(editing):
    editing.texts["layers.py"] = LAYERS + "("
    with pytest.raises(lint.CheckError):
        editing.check("layers.py")
    assert len(editing.check("main.py").findings) == 1
    editing.texts["layers.py"] = LAYERS
    editing.check("layers.py")
    assert len(editing.check("main.py").findings) == 2


def test_a_file_that_is_written_may_answer_what_walks_of_others_have_asked(editing):
    for name in ("main.py", "other.py"):
        editing.check(name)
    editing.walked.clear()
    editing.checker.written(str(editing.folder / "main.py"))
    editing.check("main.py", "# the input", "# input")
    assert editing.walked == []
    editing.check("other.py")
    assert editing.walked == ["other.py"]


def test_trying_fixes_leaves_what_is_known(editing):
    found = editing.check("main.py")
    after = editing.checker.fixed_by(found.document, found.findings[0], Config())
    assert after is not None
    assert after.text != found.document.source.text
    editing.walked.clear()
    now = editing.check("main.py", "# the input", "# input")
    assert editing.walked == []
    assert now.findings == editing.fresh("main.py")


CIRCLE = {
    "pack/__init__.py": "from .one import One\nfrom .two import Two\n",
    "pack/one.py": (
        "import torch\nfrom pack import two\n\n"
        "class One(two.Two):\n    def make(self):\n        return torch.ones(3, device='cpu')\n"
    ),
    "pack/two.py": (
        "import torch\nimport pack.three\n\n"
        "class Two(torch.nn.Module):\n    def made(self):\n        return pack.three.make()\n"
    ),
    "pack/three.py": (
        "import torch\nfrom pack.one import One\n\n"
        "def make():\n    return torch.zeros(3, device='cpu')\n"
    ),
    "use.py": (
        "import torch\nfrom pack import One, Two\n\nassert torch.cuda.is_available()\n"
        "x = torch.ones(3).cuda()\nprint(x + One().make())\nprint(x + Two().made())\n"
    ),
}


@pytest.mark.parametrize("name", ["pack/one.py", "pack/two.py", "pack/three.py", "use.py"])
def test_files_that_import_each_other_are_found_out_as_from_scratch(tmp_path, name):
    editing = Editing(tmp_path, dict(CIRCLE))
    assert len(editing.check("use.py").findings) == 2
    for old, new in (
        (")\n", ") \n"),
        ("import torch", "import torch\nimport os"),
        ("import torch", "import sys, torch"),
    ):
        editing.check(name, old, new)
        assert editing.check("use.py").findings == editing.fresh("use.py")
    if "device" in editing.texts[name]:
        editing.check(name, "device='cpu'", "device='cuda'")
        assert editing.check("use.py").findings == editing.fresh("use.py")
        assert len(editing.check("use.py").findings) == 1


def test_programs_are_asked_once_while_they_say_the_same(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").touch()
    editing = Editing(tmp_path, {"model.py": MODEL, "train.py": TRAIN, "other.py": OTHER})
    asked: list[str] = []
    led = OwnAnalysis.led

    def counting(own, project):
        asked.append(Path(own.source.path).name)
        return led(own, project)

    monkeypatch.setattr(OwnAnalysis, "led", counting)

    def finished() -> list[str]:
        found = editing.checker.finish(editing.check("model.py"), never)
        return [one.code for one in found.findings]

    assert (finished(), finished()) == (["DEV103"], ["DEV103"])
    editing.check("other.py", "ones", "zeros")
    assert finished() == ["DEV103"]
    assert asked == ["model.py"]
    editing.check("train.py", "tagger.start(2)", "None")
    assert finished() == []
    assert asked == ["model.py", "model.py"]
