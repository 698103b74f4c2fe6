"""How a page is followed: what is a mistake of the page, and what a reader has installed."""

from __future__ import annotations

import pytest

from tests.docs.followed.environment import NotInstalled
from tests.docs.followed.page import (
    Command,
    File,
    PageError,
    Quotation,
    apply,
    rewritten,
    shows,
    steps,
)
from tests.docs.followed.reader import NOT_RUN, Reader

PAGE = """\
Save
this as `a.py`:

```python
print(1)
```

Add this to the end of `a.py`:

```python
print(2)
```

```console
$ python a.py
1
3
$ true
```

```text
2
```
"""


@pytest.fixture
def reader(tmp_path):
    return Reader(tmp_path)


def test_a_page_is_read_as_steps():
    assert list(steps(PAGE)) == [
        File(5, "save", "a.py", "print(1)\n"),
        File(11, "append", "a.py", "print(2)\n"),
        Command(15, "python a.py", "1\n3\n"),
        Command(18, "true", ""),
        Quotation(22, "2\n"),
    ]


def test_a_page_is_followed_and_what_it_shows_is_written(reader):
    for step in steps(PAGE):
        reader.follow(step)
    assert reader.said == {15: "1\n2\n", 18: ""}
    said = {step: reader.said[step.line] for step in steps(PAGE) if isinstance(step, Command)}
    assert rewritten(PAGE, said) == PAGE.replace("1\n3\n", "1\n2\n")


@pytest.mark.parametrize(
    "page",
    [
        "Look at this:\n\n```python\nprint(1)\n```\n",
        "Save this as `a.py`:\n\nAnd that:\n\n```python\nprint(1)\n```\n",
        "```console\n1\n```\n",
    ],
)
def test_a_block_that_nothing_is_said_about_is_refused(page):
    with pytest.raises(PageError):
        list(steps(page))


@pytest.mark.parametrize(
    ("shown", "said", "holds"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n…\nc\n", "a\nb\nb\nc\n", True),
        ("a\n…\nc\n", "a\nb\nc\nd\n", False),
        ("…\nc\n", "a\nb\nc\n", True),
        ("…\nc\n", "a\nb\nbc\n", False),
        ("a…\n", "ab\n", False),
        ("a.\n", "ab\n", False),
    ],
)
def test_what_is_elided(shown, said, holds):
    assert shows(shown, said) is holds


@pytest.mark.parametrize(
    ("shown", "said", "written"),
    [
        ("a\n…\nc\n", "A\nb\nb\nC\n", "A\n…\nC\n"),
        ("…\nb\nc\n", "a\na\nB\nC\n", "…\nB\nC\n"),
        ("a\n…\n", "A\nb\n", "A\n…\n"),
        ("a\n…\nc\n", "A\nC\n", "A\nC\n"),
    ],
)
def test_what_is_elided_stays_elided(shown, said, written):
    page = f"```console\n$ true\n{shown}```\n"
    [command] = [step for step in steps(page) if isinstance(step, Command)]
    assert rewritten(page, {command: said}) == page.replace(shown, written)


def test_lines_are_changed(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("a\n\nb\nc\nd\n", encoding="utf-8")
    apply(" a\n\n-b\n+B\n@@\n-d\n", file)
    assert file.read_text(encoding="utf-8") == "a\n\nB\nc\n"


@pytest.mark.parametrize("text", ["", "a\na\n"])
def test_lines_that_are_not_there_once_cannot_be_changed(tmp_path, text):
    file = tmp_path / "a.py"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PageError):
        apply("-a\n+b\n", file)


def test_only_what_was_installed_is_there(reader):
    assert reader.type("python -c 'import iniconfig'")[0] == 1
    reader.type("pip install 'devicelint[flake8]'")
    assert reader.type("python -c 'import iniconfig'")[0] == 1
    assert reader.type("python -c 'import flake8, libcst, devicelint'") == (0, "")
    assert "devicelint: 0." in reader.type("flake8 --version")[1]
    reader.type("pip install iniconfig --index-url https://example.org")
    assert reader.type("python -c 'import iniconfig'") == (0, "")


def test_devicelint_is_that_of_the_checkout_and_not_the_checkout(reader):
    reader.type("pip install devicelint")
    where = reader.type("python -c 'import devicelint; print(devicelint.__file__)'")[1]
    assert where.startswith(str(reader.environment.packages))


@pytest.mark.parametrize("word", ["devicelint[gaurd]", "devicelint>=99", "no-such-package"])
def test_what_there_is_not_cannot_be_installed(reader, word):
    with pytest.raises(NotInstalled):
        reader.type(f"pip install '{word}'")


def test_what_is_not_run_prints_nothing(reader):
    assert {reader.type(command) for command in NOT_RUN} == {(0, "")}
