"""Text that is no Python is told as CPython tells it."""

import libcst as cst
import pytest

from devicelint.text.parse import CheckError, parse
from devicelint.text.source import SourceFile


def told(text: str) -> str:
    with pytest.raises(CheckError) as caught:
        parse(SourceFile.from_text(text, "a.py"))
    return str(caught.value)


@pytest.mark.parametrize("text", ["", "x = 1\r\n", "x = '\\d'\n", "if x:\n\ty\n", "assert (x, 1)"])
def test_what_libcst_reads_comes_back(text):
    module = parse(SourceFile.from_text(text))
    assert isinstance(module, cst.Module)
    assert module.code == text


@pytest.mark.parametrize(
    "text",
    [
        "for w in z:\n                with a:\n            \t    c = 1\n                d = 1\n",
        "if a:\n        if b:\n      \t    c = 1\r\n        d = (\n\t1)\n",
    ],
)
def test_indentations_that_mean_the_same_to_cpython_are_read(text):
    module = parse(SourceFile.from_text(text))
    assert len(module.code) == len(text)
    assert module.code.split() == text.split()


def test_indentations_that_cpython_refuses_are_refused():
    assert "inconsistent use of tabs" in told("if a:\n        b = 1\n\tc = 2\n")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x = (\n", "1:5"),
        ("x = 1\ny = 'abc\n", "2:5"),
        ("x = 1\ny = $\n", "2:5"),
        ("x = 1\n  y = 2\n", "2:1"),
        ("x = 1\r\nprint x\r\n", "2:1"),
        ("s = '日本'; y = = 2\n", "1:15"),
    ],
)
def test_a_syntax_error_has_its_place(text, place):
    line, column, message = told(text).removeprefix("a.py:").split(":", 2)
    assert line == place.split(":")[0]
    assert abs(int(column) - int(place.split(":")[1])) <= 2
    assert message.startswith(" syntax error: ")


def test_python_2_is_told_in_the_words_of_python_3():
    assert "Missing parentheses in call to 'print'" in told("print 'x'\n")


@pytest.mark.parametrize("brackets", ["()", "[]", "{}", "f()"])
@pytest.mark.parametrize("depth", [300, 50_000])
def test_brackets_that_cpython_refuses_do_not_reach_the_native_parser(brackets, depth):
    text = "x = " + brackets[:-1] * depth + brackets[-1] * depth + "\n"
    assert "too many nested parentheses" in told(text)


def test_brackets_in_strings_and_comments_are_not_nested():
    text = f"x = '{'(' * 300}'  # {'[' * 300}\n"
    assert parse(SourceFile.from_text(text)).code == text


@pytest.mark.parametrize(
    "expression",
    [
        "x" + ".x" * 30_000,
        "not " * 30_000 + "x",
        "x" + " and x" * 30_000,
        "lambda: " * 30_000 + "x",
    ],
)
def test_expressions_that_are_deep_without_brackets_do_not_reach_the_native_parser(expression):
    assert told(f"y = {expression}\n") == "a.py:1:1: is nested too deeply to be checked"


@pytest.mark.parametrize(
    "text",
    [
        "y = [" + "1, " * 30_000 + "]\n",
        "y = x" + " + x" * 150 + "\n",
        "y = (\n" + "    'a line of text'\n" * 150 + ")\n",
        "x = 1\n" * 3_000,
    ],
)
def test_long_is_not_deep(text):
    assert parse(SourceFile.from_text(text)).code == text
