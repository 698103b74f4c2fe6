"""One walk for an editor shows what a check finds, and what `why` and `trace` tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.config import Config
from devicelint.linter import lint
from devicelint.text.source import SourceFile
from devicelint.views import editor, show
from devicelint.views.abandoned import Abandoned
from devicelint.views.editor_snapshot import EditorSnapshot
from devicelint.workspace.project import Project

EXAMPLES = sorted(Path("examples/broken").glob("*.py"))


def snapshot(source: SourceFile) -> tuple[lint.CheckResult, EditorSnapshot]:
    checked, (one,) = editor.analyse(source, Config(), Project())
    return checked, one


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_studied_as_it_is_checked_and_explained(path):
    source = SourceFile.from_bytes(path.read_bytes(), str(path))
    checked, found = snapshot(source)
    assert checked == lint.check(source, Config(), Project())
    starts: dict[str, set[tuple[str, str, tuple[object, ...]]]] = {}
    for one in found.whereabouts:
        code = " ".join(source.text[one.span.start : one.span.end].split())
        starts.setdefault(code, set()).add((code, one.device, one.steps))
    lines = {source.position(one.span.start).line for one in found.whereabouts}
    for line in sorted(lines)[::9]:
        for account in show.why(source, line, Project()).accounts:
            code = " ".join(account.code.split())
            if code in starts and not account.device.startswith("unknown"):
                assert (code, account.device, account.steps) in starts[code]
    noted = dict(show.trace(source, Project()).lines)
    for mark in found.marks:
        if mark.text.startswith(":"):
            name = source.text[mark.subject.start : mark.subject.end]
            line = source.position(mark.offset).line
            assert any(note.startswith(f"{name}: ") for note in noted[line])


def test_marks_follow_names_and_moves():
    text = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(3, 1)
model.to(device)
for _, (x, y) in enumerate([(torch.ones(1), torch.ones(2))]):
    with torch.no_grad():
        z = x.to(device)
number = 3
x.cuda()
"""
    source = SourceFile(text, "x.py")
    marks = [
        (source.position(one.offset).line, text[one.subject.start : one.subject.end], one.text)
        for one in snapshot(source)[1].marks
    ]
    assert marks == [
        (5, "model", ": cpu"),
        (6, "model.to(device)", " → cuda"),
        (7, "x", ": cpu"),
        (7, "y", ": cpu"),
        (9, "z", ": cuda"),
    ]


def test_the_innermost_expression_is_found_of():
    source = SourceFile('import torch\n\nx = torch.ones(2).to("cuda")\n', "x.py")
    found = snapshot(source)[1]
    line = source.offset(3, 0)
    assert [(one.device, one.span) for one in found.at(line)] == [("cuda", found.at(line)[0].span)]
    (inner,) = found.at(line + 8)
    assert source.text[inner.span.start : inner.span.end] == "torch.ones(2)"
    assert inner.device == "cpu"
    assert found.at(0) == ()


def test_a_walk_that_nobody_wants_to_know_of_any_more_ends():
    asked = iter([False] * 5)
    with pytest.raises(Abandoned):
        editor.analyse(
            SourceFile(EXAMPLES[0].read_text(encoding="utf-8"), "x.py"),
            Config(),
            Project(),
            lambda: next(asked, True),
        )
