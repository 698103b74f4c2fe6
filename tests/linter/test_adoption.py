"""Adoption: once is enough, and all that it does not concern stays byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devicelint.cli import main
from devicelint.linter import lint
from devicelint.text.source import SourceFile

ON_THE_CPU = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 4), torch.randint(3, (64,)))
loader = DataLoader(data, batch_size=8)
model = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for inputs, targets in loader:
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(model(torch.randn(2, 4)).detach().numpy())
"""

ON_CUDA = """\
import torch
from torch import nn

model = nn.Linear(4, 3)
model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(8, 4).cuda()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
"""

GUARDED = """\
import torch
from torch import nn

use_cuda = torch.cuda.is_available()
model = nn.Linear(4, 3)
if use_cuda:
    model = model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(8, 4)
    if use_cuda:
        x = x.cuda()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
"""

SCRIPTS = [ON_THE_CPU, ON_CUDA, GUARDED]

NOISE = re.compile(r"(?m)^[ \t]*#~.*\n")
"""The lines that a test puts in between."""

noise = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=12)


def adopt(text: str) -> lint.Fixed:
    return lint.adopt(SourceFile.from_text(text, "train.py"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_adopting_twice_is_as_once(script: str) -> None:
    once = adopt(script)
    assert once.after.text != script
    assert once.remaining == ()
    twice = adopt(once.after.text)
    assert twice.after.text == once.after.text
    assert twice.applied == ()


@settings(max_examples=15)
@given(st.data())
@pytest.mark.parametrize("script", SCRIPTS)
def test_comments_between_lines_change_nothing_and_stay(script: str, data: st.DataObject) -> None:
    lines = script.splitlines(keepends=True)
    noisy, remarks = "", []
    for number, line in enumerate(lines):
        noisy += line
        if number and line.strip() and data.draw(st.booleans()):
            indentation = line[: len(line) - len(line.lstrip())]
            remark = f"#~{data.draw(noise)}"
            remarks.append(remark.strip())
            noisy += f"{indentation}{remark}\n"
    adopted = adopt(noisy).after.text
    # What comes out of a guard comes with the remarks there, to the left.
    assert [remark.strip() for remark in NOISE.findall(adopted)] == remarks
    assert NOISE.sub("", adopted).replace("\n", "") == adopt(script).after.text.replace("\n", "")


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_ends_of_lines_stay(script: str, newline: str) -> None:
    adopted = adopt(script.replace("\n", newline)).after.text
    assert adopted == adopt(script).after.text.replace("\n", newline)


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_style_of_devices_is_an_option(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(script)
    assert main(["adopt", "--style", "accelerator", "train.py"]) == 0
    chosen = (
        "torch.accelerator.current_accelerator() if torch.accelerator.is_available() "
        'else torch.device("cpu")'
    )
    assert f"device = {chosen}\n" in (tmp_path / "train.py").read_text()
    assert main(["adopt", "--style", "to", "--check", "train.py"]) == 0
