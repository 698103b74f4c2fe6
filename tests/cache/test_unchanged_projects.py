"""A project is asked nothing while it does not change, and only what has changed is parsed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from devicelint.workspace import machine_use, savers, syntax
from devicelint.workspace.import_resolver import ImportResolver
from devicelint.workspace.summaries import Files, Summaries, summary
from devicelint.workspace.summaries.tree import ProjectTree
from tests.cache.conftest import write

NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x + torch.zeros(3)
"""
TRAIN = """\
import torch
from net import Net

for _ in range(2):
    Net().cuda()(torch.ones(3).cuda())
"""


@pytest.fixture(autouse=True)
def _in_a_project(_in_a_folder):
    Path(".git").mkdir()


@pytest.fixture
def asked(monkeypatch):
    """What was asked of the files of the project again."""
    questions: list[str] = []
    real = ImportResolver.answer

    def answer(self, home, question):
        questions.append(question.module)
        return real(self, home, question)

    monkeypatch.setattr(ImportResolver, "answer", answer)
    return questions


@pytest.fixture
def parsed(monkeypatch):
    """The texts that were parsed to answer questions about the project."""
    texts: list[bytes] = []
    real = syntax.parsed

    def parse(data):
        texts.append(data)
        return real(data)

    for module in (machine_use, savers, summary):
        monkeypatch.setattr(module, "parsed", parse)
    return texts


def test_an_unchanged_project_is_asked_nothing(run, asked, parsed):
    write(net=NET, train=TRAIN, other="import torch\n")
    _, told = run()
    assert "net.py:6" in told
    assert parsed
    asked.clear()
    parsed.clear()
    assert run() == ([], told)
    assert run(*_words("net.py"))[0] == []
    assert not asked
    assert not parsed


def test_modification_times_do_not_count(run, asked):
    write(net=NET, train=TRAIN)
    run()
    asked.clear()
    for path in Path().glob("*.py"):
        os.utime(path, (1, 1))
    assert run()[0] == []
    assert not asked
    before = Path("net.py").stat()
    write(net=NET.replace("zeros", "ones "))
    os.utime("net.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Path("net.py").stat().st_size == before.st_size
    assert "net.py" in run()[0]


def test_only_a_changed_file_is_parsed(run, asked, parsed):
    write(net=NET, train=TRAIN, other="import torch\n", far="import torch\nx = torch.ones(3)\n")
    run()
    parsed.clear()
    write(other="import torch\n\nx = torch.ones(2)\n")
    assert run()[0] == ["other.py"]
    assert asked
    assert {*parsed} == {b"import torch\n\nx = torch.ones(2)\n"}


def test_files_that_come_and_go_are_asked_for(run):
    write(net=NET)
    assert run()[1] == ""
    write(train=TRAIN)
    again, told = run()
    assert again == ["net.py", "train.py"]
    assert "net.py:6" in told
    assert run() == ([], told)
    Path("train.py").unlink()
    assert run() == (["net.py"], "")


def test_what_lies_outside_of_the_project_is_asked_for(run):
    Path("kit").mkdir()
    Path("kit/.git").mkdir()
    write(**{"kit/train": TRAIN.replace("from net", "from ..net"), "net": NET})
    _, told = run(*_words("kit"))
    write(net=NET.replace("x + torch.zeros(3)", "x"))
    assert run(*_words("kit"))[0] == ["kit/train.py"]
    write(net=NET)
    assert run(*_words("kit"))[1] == told


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        *(("new.py", True), ("page.md", True), ("book.ipynb", True), ("setup.cfg", True)),
        *(("picture.png", False), ("__pycache__/net.py", False), (".cache/net.py", False)),
    ],
)
def test_the_state_of_a_project(name, counts):
    write(net=NET)
    before = ProjectTree.of(str(Path.cwd()), Files().content)
    assert before.state == ProjectTree.of(str(Path.cwd()), Files().content).state
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("text", encoding="utf-8")
    after = ProjectTree.of(str(Path.cwd()), Files().content)
    assert (before.state != after.state, not before.has_the_same_names()) == (counts, counts)


def test_the_content_of_a_page_is_part_of_it():
    Path("page.md").write_text("read()", encoding="utf-8")
    before = ProjectTree.of(str(Path.cwd()), Files().content)
    Path("page.md").write_text("load()", encoding="utf-8")
    assert ProjectTree.of(str(Path.cwd()), Files().content).state != before.state


def test_a_tree_that_goes_round_in_circles_has_no_state():
    Path("inner").symlink_to(Path.cwd(), target_is_directory=True)
    assert not ProjectTree.of(str(Path.cwd()), Files().content).state


def test_a_file_that_changes_while_it_is_looked_at_is_noticed():
    write(net=NET)
    files = Files()
    assert files.summary("net.py") is not None
    write(net="import torch\nfor _ in range(3):\n    pass\n")
    assert files.leads("net.py").starts
    assert files.has_seen_changes
    files.forget()
    assert files.leads("net.py").starts
    assert not files.has_seen_changes


def test_a_text_is_read_once_for_all_runs(parsed):
    write(net=NET, train=TRAIN, plain="from net import Net\n")
    summaries = Summaries()
    files = Files(summaries)
    found = [(files.use(one), files.leads(one)) for one in ("net.py", "train.py", "plain.py")]
    written = summaries.new()
    assert written is not None
    parsed.clear()
    later = Summaries(lambda: written)
    again = Files(later)
    names = ("net.py", "train.py", "plain.py")
    assert [(again.use(one), again.leads(one)) for one in names] == found
    assert not parsed
    assert later.new() is None


@pytest.mark.parametrize("part", [None, 1, [], {"imports": 3}, {"lives": True}, {"imports": [[1]]}])
def test_what_somebody_else_has_written_of_a_text_is_not_believed(part):
    write(net=NET)
    summaries = Summaries()
    files = Files(summaries)
    use = files.use("net.py")
    written = summaries.new()
    assert written is not None
    ((content, data),) = written.items()
    damaged = [*data[:-1], {"use": part}]
    for one in (damaged, [], None, {"a": 1}, data[:-1]):
        again = Files(Summaries({content: one}.copy))
        assert (again.use("net.py"), again.leads("net.py")) == (use, files.leads("net.py"))


def _words(path: str) -> tuple[str, ...]:
    return ("--output-format", "concise", "-q", "--ignore", "hard-coded-accelerator", path)
