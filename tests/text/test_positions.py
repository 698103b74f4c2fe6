"""`locate` against libcst's own, slower, position providers, and on what libcst leaves out."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devicelint.finding import Span
from devicelint.text import positions
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile


def nodes(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield root
    for child in root.children:
        yield from nodes(child)


def slices(text: str, kind: type[cst.CSTNode] = cst.CSTNode) -> list[str]:
    module = cst.parse_module(text)
    of_kind = [node for node in nodes(module) if isinstance(node, kind)]
    wanted = [node for node in of_kind if not isinstance(node, cst.SimpleWhitespace)]
    spans = locate(module, SourceFile.from_text(text), wanted)
    return [text[spans[node].start : spans[node].end] for node in wanted]


STANDARD_LIBRARY = [Path(module.__file__ or "") for module in (dataclasses, textwrap)]


@pytest.mark.parametrize("path", STANDARD_LIBRARY, ids=lambda path: path.name)
def test_every_node_stands_where_the_public_providers_see_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    module = cst.parse_module(text)
    # libcst 1.5 does not generate some empty whitespace of its trees
    wanted = {
        id(node): node for node in nodes(module) if not isinstance(node, cst.SimpleWhitespace)
    }
    assert positions._ranges_counted(module, wanted) == positions._ranges_provided(module, wanted)


def test_the_public_providers_stand_in_where_the_code_generator_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "if a:\n    f((b + c) , d)  # e\n"
    expected = slices(text)
    for state in (positions._Counter, positions._Writer):
        monkeypatch.delattr(state, "record_syntactic_position")
    assert slices(text) == expected


def test_nothing_is_generated_where_nothing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(positions._Counter, "__init__")
    assert locate(cst.parse_module("a\n"), SourceFile.from_text("a\n"), []) == {}


def test_an_expression_includes_its_own_parentheses() -> None:
    assert slices("y = ( (a + b) ) . c\n", cst.BinaryOperation) == ["( (a + b) )"]
    assert slices("f( ( a ) , b )\n", cst.Arg) == ["( a )", "b"]
    assert slices("f( * a , ** b )\n", cst.Arg) == ["* a", "** b"]
    assert slices("a = [ * b , c ]\n", cst.StarredElement) == ["* b"]


def test_a_statement_goes_without_the_comments_around_it() -> None:
    text = "# above\n\nx = 1  # beside\n# below\n"
    assert slices(text, cst.SimpleStatementLine) == ["x = 1"]


def test_a_compound_statement_ends_with_its_body() -> None:
    text = "@d\ndef f():\n    a\n    b  # c\n    # footer\n\nx\n"
    assert slices(text, cst.FunctionDef) == ["def f():\n    a\n    b"]
    assert slices("if a: b; c ;\n", cst.If) == ["if a: b; c"]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa = call(1)\n",
        "\fa = call(1)\n\f\nif a:\n\f  call(1)\n",
        "\\\na = call(1)\n",
        "a = call(1)\r",
        "a = call(1)",
        "if a:\r\n\tb\r\n\tcall(1)\r\n",
        "a\rb\ncall(1)\r\n",
        "a = '\U0001f525' + call(1)\n",
        "a = \\\n  call(1) \\\n\nb\n",
        'a = """\r\n\f""" ; call(1)\n',
        "  # odd comment\n\f\fcall(1)",
        "if a:\n  \f\tcall(1)\n",
        "call(1) ; call(1)  # \U0001f525\n",
        "# -*- coding: utf-8 -*-\n\f\n\ncall(1)",
    ],
)
def test_offsets_are_those_of_the_text_as_it_is(text: str) -> None:
    assert set(slices(text, cst.Call)) == {"call(1)"}


LINES = st.sampled_from(
    [
        "call(1)",
        "if a:{n}\tcall(1)",
        "x = '\u00e9\U0001f525'; call(1)",
        "# call(1)",
        "",
        "\f",
        "(call(1) +{n} 2)",
    ]
)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])


@given(
    st.lists(st.tuples(LINES, NEWLINES), max_size=8),
    st.sampled_from(["", "\ufeff", "\f"]),
    st.booleans(),
)
def test_calls_are_found_whatever_ends_the_lines(
    lines: list[tuple[str, str]], prefix: str, ends_with_newline: bool
) -> None:
    text = prefix + "".join(line.format(n=newline) + newline for line, newline in lines)
    text = text if ends_with_newline else text.rstrip("\r\n")
    assert set(slices(text, cst.Call)) <= {"call(1)"}


@pytest.mark.parametrize("make", [lambda text: text + "b\n", lambda text: "x" + text])
def test_a_tree_of_another_text_is_refused(make: Callable[[str], str]) -> None:
    module = cst.parse_module("a\nb\nc\n")
    with pytest.raises(ValueError, match="does not give the text back"):
        locate(module, SourceFile.from_text(make("a\nb\n")), [module])


def test_every_node_has_a_span_even_an_empty_one_where_libcst_left_something_out() -> None:
    text = "\fa( )\n\f\nif a:\n\f  b\n"
    assert "a( )" in slices(text)


def test_the_module_itself_and_a_site_asked_for_twice() -> None:
    module = cst.parse_module("a\n")
    assert locate(module, SourceFile.from_text("a\n"), [module, module]) == {module: Span(0, 2)}
