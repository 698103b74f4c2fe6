"""Which files of a project mention a name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from devicelint.workspace import named_files
from devicelint.workspace.named_files import NamedFiles


@pytest.fixture
def asked(tmp_path):
    for name, text in {
        "a.py": "from b import scaled\nscaled(1)\n",
        "deep/c.py": "unscaled(2)\n",
        "deep/d.py": "x = scaled\n",
        "venv/e.py": "scaled(3)\n",
        "f.txt": "scaled\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return NamedFiles(lambda name: name == "venv")


def test_a_name_is_mentioned_as_a_whole(asked, tmp_path):
    found = asked.files(str(tmp_path), "scaled")
    assert [Path(one).name for one in found] == ["a.py", "d.py"]


def test_short_files_that_call_it_come_first(asked, tmp_path):
    for name, text in {
        "b.py": "scaled(1)\n",
        "c.py": "def scaled(x):\n    return x\n",
        "g.py": "other.scaled(1)\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = asked.files(str(tmp_path), "scaled")
    assert [Path(one).name for one in found] == ["b.py", "a.py", "d.py", "g.py", "c.py"]


def test_what_has_changed_is_read_again_when_it_is_forgotten(asked, tmp_path):
    assert asked.files(str(tmp_path), "halved") == ()
    (tmp_path / "a.py").write_text("halved(1)\n", encoding="utf-8")
    asked.forget()
    assert asked.files(str(tmp_path), "halved") == (str(tmp_path / "a.py"),)


def test_of_too_many_files_none_is_asked(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(named_files, "_MOST_FILES", 2)
    assert asked.files(str(tmp_path), "scaled") is None


def test_of_many_projects_the_last_ones_are_known_and_the_others_read_again(tmp_path, monkeypatch):
    read: list[str] = []
    reading = NamedFiles._read

    def noted(named: NamedFiles, root: str) -> Any:
        read.append(root)
        return reading(named, root)

    monkeypatch.setattr(NamedFiles, "_read", noted)
    named = NamedFiles(lambda _: False)
    roots = [str(tmp_path / f"project{number}") for number in range(named_files._MOST_PROJECTS + 1)]
    for root in roots:
        Path(root).mkdir()
        (Path(root) / "a.py").write_text("scaled(1)\n", encoding="utf-8")
    for root in (*roots, roots[1], roots[0]):
        assert named.files(root, "scaled") == (str(Path(root) / "a.py"),)
    assert read == [*roots, roots[0]]
