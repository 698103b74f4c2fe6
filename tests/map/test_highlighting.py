"""What of a source is coloured."""

import json

import pytest

from devicelint.map.highlighting import highlighted
from devicelint.text.source import SourceFile


def coloured(text, path="train.py"):
    """What is coloured, with its kind, line by line."""
    source = SourceFile.from_text(text, path)
    return {
        line: [(source.line_text(line)[start:end], kind) for start, end, kind in parts]
        for line, parts in highlighted(source).items()
    }


def test_kinds():
    assert coloured("if not x == 0x1F:  # no\n    y = 'a'\n") == {
        1: [
            ("if", "keyword"),
            ("not", "keyword"),
            ("0x1F", "number-literal"),
            ("# no", "comment"),
        ],
        2: [("'a'", "string")],
    }


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_string_of_several_lines(newline):
    found = coloured(f'x = """one{newline}two""" + y{newline}import z')
    assert found == {
        1: [('"""one', "string")],
        2: [('two"""', "string")],
        3: [("import", "keyword")],
    }


def test_what_stands_in_a_formatted_string_is_code():
    found = coloured('print(f"{x.device} on {3:>10}")')
    assert found[1] == [
        ('f"{', "string"),
        ("} on {", "string"),
        ("3", "number-literal"),
        (':>10}"', "string"),
    ]


def test_a_match_is_a_statement():
    found = coloured("match match:\n    case 1:\n        case = 2\n")
    assert found[1] == [("match", "keyword")]
    assert found[3] == [("2", "number-literal")]


def test_a_magic_is_not_coloured():
    source = "import torch\n!ls 3\nx = torch.ones(3)"
    cell = {"cell_type": "code", "metadata": {}, "source": source}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4})
    assert set(coloured(text, "a.ipynb")) == {1, 3}
