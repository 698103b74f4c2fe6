"""A tree that was put together after a change is that of the changed text."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from devicelint.finding import InputError
from devicelint.linter.lint import check
from devicelint.text.parse import CheckError, parse
from devicelint.text.reparse import Parsed, shared
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project

EXAMPLES = sorted(Path("examples/broken").glob("*.py"))

PIECES = [
    "\n", "    ", "x = 1\n", "# c\n", "    # d\n", "else:\n", "\\\n", '"""', "(", ")", "@d\n",
    "def f():\n    pass\n", "if a:\n  b\n", "\t", "class C:\n\tx = 1\n", "except E:\n    pass\n",
    ";", ":", "\r\n", "\x0c", "elif x: y\n", "    return\n", "", "'", "async ",
]  # fmt: skip
"""What people type, and what tears a text apart."""


def changed(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    if chance.random() < 0.5:
        start = text.rfind("\n", 0, start) + 1
    end = min(len(text), start + chance.choice([0, 0, 1, 3, 20, 100, 400]))
    return text[:start] + chance.choice(PIECES) + chance.choice(PIECES) + text[end:]


def outcome(parsing):
    try:
        return parsing()
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_any_change_gives_what_parsing_all_of_it_gives(path):
    chance = random.Random(path.stem)
    parsed = first = Parsed.of(SourceFile(path.read_text(encoding="utf-8")))
    for number in range(25):
        parsed = parsed if number % 2 else first
        source = SourceFile(changed(parsed.text, chance))
        whole = outcome(lambda source=source: parse(source))
        now = outcome(lambda before=parsed, source=source: before.changed(source))
        if isinstance(whole, str) or isinstance(now, str):
            assert now == whole
            continue
        assert now.tree.code == whole.code
        assert [type(one) for one in now.tree.body] == [type(one) for one in whole.body]
        parsed = now


def test_only_the_statement_that_changed_is_another_one():
    parsed = Parsed.of(
        SourceFile("# top\na = 1\n\n# of b\nb = 2\n\ndef f():\n  return a\n\nc = 3\n")
    )
    now = parsed.changed(SourceFile(parsed.text.replace("b = 2", "b = 22")))
    same = [one is other for one, other in zip(now.tree.body, parsed.tree.body, strict=True)]
    assert same == [True, False, True, True]


def test_a_mistake_is_told_where_it_is_in_the_whole_text():
    parsed = Parsed.of(SourceFile("a = 1\nb = 2\nc = 3\n", "x.py"))
    with pytest.raises(CheckError, match=r"x\.py:2:5: syntax error"):
        parsed.changed(SourceFile("a = 1\nb = )\nc = 3\n", "x.py"))


def test_what_is_found_after_a_change_is_found_where_it_is():
    text = EXAMPLES[0].read_text(encoding="utf-8")
    source = SourceFile(text.replace("import torch\n", "import torch\n\nmore = 1\n", 1), "x.py")
    project = Project()
    project.hold(SourceFile(text, "x.py"))
    check(SourceFile(text, "x.py"), None, project)
    project.hold(source)
    assert check(source, None, project).findings == check(source).findings != ()


def test_the_ends_that_two_texts_share_do_not_overlap():
    assert shared("aaa", "aa") == (2, 0)
    assert shared("abcd", "abXcd") == (2, 2)
    assert shared("", "a") == (0, 0)
