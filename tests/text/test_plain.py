"""What is written plainly is written as libcst writes it."""

from __future__ import annotations

import libcst as cst
import pytest

from devicelint.text.plain import plainly_written


@pytest.mark.parametrize(
    "code",
    [
        "x",
        "self.net.weight",
        "a . b",
        "1.5",
        "'cuda:0'",
        "f()",
        "model( x,y , *rest, key = 1, ** options, )",
        "x.to(device).cpu().numpy()",
    ],
)
def test_it_is_as_libcst_writes_it(code: str) -> None:
    assert plainly_written(cst.parse_expression(code)) == code


@pytest.mark.parametrize("code", ["(x)", "(x).y", "a + b", "f(\n    x)", "f(a + b)", "x[0]"])
def test_other_expressions_are_libcsts_affair(code: str) -> None:
    assert plainly_written(cst.parse_expression(code)) is None


def test_what_was_never_written_is_libcsts_affair() -> None:
    call = cst.Call(cst.Name("f"), [cst.Arg(cst.Name("x")), cst.Arg(cst.Name("y"))])
    assert plainly_written(call) is None
