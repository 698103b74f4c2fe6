"""Each kind of change, on the text: what it does, and what it leaves byte for byte as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import libcst as cst
import libcst.matchers as m
import pytest

from devicelint.finding import Safety
from devicelint.fixes import (
    AddKeyword,
    AddParameter,
    Change,
    DefineDevice,
    InsertAfter,
    InsertBefore,
    InsertStatement,
    Keep,
    RemoveArgument,
    RemoveStatement,
    Replace,
    Rewrite,
    WrapInCall,
    apply,
    resolve,
)
from devicelint.text.source import SourceFile


def changed(text: str, make: Callable[[cst.Module], list[Change]]) -> str | None:
    """The text after one rewrite; None where it cannot be made. It has to parse."""
    module = cst.parse_module(text)
    rewrite = Rewrite("fixs it", tuple(make(module)), Safety.SAFE)
    (fix,) = resolve([rewrite], module, SourceFile.from_text(text))
    if fix is None:
        return None
    after = apply(text, fix.edits)
    cst.parse_module(after)
    return after


def nodes(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield root
    for child in root.children:
        yield from nodes(child)


def calls(module: cst.Module, name: str = "f") -> list[cst.Call]:
    """The calls of a function, or a method, of this name."""
    pattern = m.Call(func=m.Name(name) | m.Attribute(attr=m.Name(name)))
    found = [node for node in nodes(module) if m.matches(node, pattern)]
    return [cst.ensure_type(node, cst.Call) for node in found]


def first_argument(module: cst.Module) -> cst.BaseExpression:
    return calls(module)[0].args[0].value


# Expressions


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x)", "f(x.cpu())"),
        ("f( x , y)", "f( x.cpu() , y)"),
        ("f(x[0])", "f(x[0].cpu())"),
        ("f(g(x) # why\n )", "f(g(x).cpu() # why\n )"),
        ("f(a + b)", "f((a + b).cpu())"),
        ("f((a + b))", "f((a + b).cpu())"),
        ("f(-x)", "f((-x).cpu())"),
        ("f(not x)", "f((not x).cpu())"),
        ("f(a and b)", "f((a and b).cpu())"),
        ("f(a < b)", "f((a < b).cpu())"),
        ("f(a if b else c)", "f((a if b else c).cpu())"),
        ("f(lambda: a)", "f((lambda: a).cpu())"),
        ("f(1)", "f((1).cpu())"),
        ("f(1.5)", "f(1.5.cpu())"),
        ("f(x := y)", "f((x := y).cpu())"),
        ("f(x for x in y)", "f((x for x in y).cpu())"),
        ("async def g(): f(await x)", "async def g(): f((await x).cpu())"),
        ("def g(): f((yield x))", "def g(): f((yield x).cpu())"),
        ("f('a' 'b')", "f('a' 'b'.cpu())"),
        ("f([x])", "f([x].cpu())"),
        ("f(\n  a +\n  b,\n)", "f(\n  (a +\n  b).cpu(),\n)"),
    ],
)
def test_a_method_call_applies_to_the_whole_expression(before: str, after: str) -> None:
    assert changed(before, lambda tree: [InsertAfter(first_argument(tree), ".cpu()")]) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [("f(*x)", "f(*x.cpu())"), ("f(k=a + b)", "f(k=(a + b).cpu())"), ("f(**x)", "f(**x.cpu())")],
)
def test_after_an_argument_means_after_its_value(before: str, after: str) -> None:
    assert changed(before, lambda tree: [InsertAfter(calls(tree)[0].args[0], ".cpu()")]) == after


def test_after_an_element_means_after_its_value() -> None:
    def make(tree: cst.Module) -> list[Change]:
        return [InsertAfter(node, ".cpu()") for node in nodes(tree) if m.matches(node, m.Element())]

    assert changed("[a + b, *c, (d)]\n", make) == "[(a + b).cpu(), *c, (d).cpu()]\n"


def test_a_bare_tuple_gets_parentheses() -> None:
    def make(tree: cst.Module) -> list[Change]:
        return [InsertAfter(node, "[0]") for node in nodes(tree) if m.matches(node, m.Tuple())]

    assert changed("a = b, c  # d\n", make) == "a = (b, c)[0]  # d\n"


def test_what_is_no_trailer_goes_in_as_it_is() -> None:
    def make(tree: cst.Module) -> list[Change]:
        site = first_argument(tree)
        return [InsertBefore(site, "*"), InsertAfter(site, " or c")]

    assert changed("f(a or b)", make) == "f(*a or b or c)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f([a, b])", "f(nn.ModuleList([a, b]))"),
        ("f(x for x in y)", "f(nn.ModuleList((x for x in y)))"),
        ("f((a, b))", "f(nn.ModuleList((a, b)))"),
        ("f((x := y))", "f(nn.ModuleList((x := y)))"),
    ],
)
def test_an_expression_becomes_the_only_argument(before: str, after: str) -> None:
    assert (
        changed(before, lambda tree: [WrapInCall(first_argument(tree), "nn.ModuleList")]) == after
    )


def test_a_bare_tuple_becomes_one_argument() -> None:
    def make(tree: cst.Module) -> list[Change]:
        return [WrapInCall(node, "g") for node in nodes(tree) if m.matches(node, m.Tuple())]

    assert changed("a = b, c\n", make) == "a = g((b, c))\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('o = Adam(p).f("cuda")  # c\n', "o = Adam(p)  # c\n"),
        ("o = (a + b).f(d)\n", "o = (a + b)\n"),
        ("o = (\n  Adam(p)\n  .f(d)\n)\n", "o = (\n  Adam(p)\n)\n"),
        ("o = ( (Adam(p)).f(d) )\n", "o = ( (Adam(p)) )\n"),
    ],
)
def test_a_part_is_kept(before: str, after: str) -> None:
    def make(tree: cst.Module) -> list[Change]:
        call = calls(tree)[0]
        return [Keep(call, cst.ensure_type(call.func, cst.Attribute).value)]

    assert changed(before, make) == after


def test_a_replacement_takes_the_parentheses_too() -> None:
    assert changed("f( (a) )", lambda tree: [Replace(first_argument(tree), "b")]) == "f( b )"


# Quotes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x)\n", 'f(x.to("cpu"))\n'),
        ("a = 'b'\nf(x)\n", "a = 'b'\nf(x.to('cpu'))\n"),
        ("'''doc'''\na = 'b'  # it's\nc = \"d\" + \"e\"\nf(x)\n", None),
        ("a = 'b', \"it's\", 'c'\nf(x)\n", "a = 'b', \"it's\", 'c'\nf(x.to('cpu'))\n"),
        ("print(f'{f(x)}')\n", "print(f'{f(x.to(\"cpu\"))}')\n"),
        ('print(f"{f(x)}")\n', "print(f\"{f(x.to('cpu'))}\")\n"),
        ('print(rf"""{f(x)}""")\n', 'print(rf"""{f(x.to(\'cpu\'))}""")\n'),
    ],
)
def test_strings_get_the_quotes_of_the_file(before: str, after: str | None) -> None:
    expected = before.replace("f(x)", 'f(x.to("cpu"))') if after is None else after
    assert (
        changed(before, lambda tree: [InsertAfter(first_argument(tree), '.to("cpu")')]) == expected
    )


def test_both_kinds_of_quotes_do_not_fit_into_an_f_string() -> None:
    content = ".g('a', \"b\")"
    assert changed("f'{f(x)}'", lambda tree: [InsertAfter(first_argument(tree), content)]) is None
    after = changed("f(x)", lambda tree: [InsertAfter(first_argument(tree), content)])
    assert after == "f(x.g('a', \"b\"))"


# Arguments


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(device=d)"),
        ("f( )", "f( device=d)"),
        ("f(\n)", "f(\ndevice=d)"),
        ("f(a)", "f(a, device=d)"),
        ("(f(a) )", "(f(a, device=d) )"),
        ("(f() )", "(f(device=d) )"),
        ("f(a, )", "f(a, device=d, )"),
        ("f(a,)", "f(a, device=d,)"),
        ("f(a, *b, **c)", "f(a, *b, **c, device=d)"),
        ("f((a))", "f((a), device=d)"),
        ("f(x for x in y)", "f((x for x in y), device=d)"),
        ("f((x for x in y))", "f((x for x in y), device=d)"),
        ("f(a, device=None)", "f(a, device=d)"),
        ("f(a, device = (None) , b=1)", "f(a, device = d , b=1)"),
        ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    device=d,\n)"),
        ("f(\n\ta,\n\tb\n)", "f(\n\ta,\n\tb,\n\tdevice=d\n)"),
        ("f(\r\n    a,  # why\r\n)", "f(\r\n    a,  # why\r\n    device=d,\r\n)"),
        ("f(\n    a  # why, really\n)", "f(\n    a,  # why, really\n    device=d,\n)"),
        ("f(\n    a,\n    # last\n)", "f(\n    a,\n    device=d,\n    # last\n)"),
        ("f(\n    a, b\n)", "f(\n    a, b, device=d\n)"),
        ("f(a,\n  b)", "f(a,\n  b,\n  device=d)"),
        ("f(a  # why\n)", "f(a, device=d  # why\n)"),
        ("f(a  # x, y\n , )", "f(a  # x, y\n , device=d, )"),
    ],
)
def test_a_call_gets_a_keyword(before: str, after: str) -> None:
    assert changed(before, lambda tree: [AddKeyword(calls(tree)[0], "device", "d")]) == after


def test_nested_calls_all_get_theirs() -> None:
    text = "f(f(f()))\n"
    after = changed(text, lambda tree: [AddKeyword(call, "k", "1") for call in calls(tree)])
    assert after == "f(f(f(k=1), k=1), k=1)\n"


@pytest.mark.parametrize(
    "before", ["f(a)", "f(a,)", "f(\n  a\n)", "f(\n  a,\n)", "f(\n  a  # c\n)"]
)
def test_a_call_gets_several_keywords(before: str) -> None:
    after = changed(
        before,
        lambda tree: [AddKeyword(calls(tree)[0], "k", "1"), AddKeyword(calls(tree)[0], "j", "2")],
    )
    assert after is not None
    assert "".join(after.split()).replace("#c", "").replace(",)", ")") == "f(a,k=1,j=2)"


@pytest.mark.parametrize(
    ("before", "index", "after"),
    [
        ("f(a)", 0, "f()"),
        ("f(a , )", 0, "f( )"),
        ("f(a, b)", 0, "f(b)"),
        ("f(a, b)", 1, "f(a)"),
        ("f(a, b,)", 1, "f(a,)"),
        ("f(\n    a,\n    b,\n    c,\n)", 1, "f(\n    a,\n    c,\n)"),
    ],
)
def test_an_argument_is_removed(before: str, index: int, after: str) -> None:
    def make(tree: cst.Module) -> list[Change]:
        call = calls(tree)[0]
        return [RemoveArgument(call, call.args[index])]

    assert changed(before, make) == after


# Statements


@pytest.mark.parametrize(
    ("before", "where", "after"),
    [
        ("f()\n", "before", "x = 1\nf()\n"),
        ("f()\n", "after", "f()\nx = 1\n"),
        ("f()", "after", "f()\nx = 1"),
        ("f()  # c", "after", "f()  # c\nx = 1"),
        ("# above\nf()  # c\n# below\n", "before", "# above\nx = 1\nf()  # c\n# below\n"),
        ("a\r\n# c\r\nf()\r\n", "before", "a\r\nx = 1\r\n# c\r\nf()\r\n"),
        (
            "for a in b:\n  # c\n  # d\n  f()\n",
            "before",
            "for a in b:\n  x = 1\n  # c\n  # d\n  f()\n",
        ),
        ("if a:\n  # b\n  c\n# d\nf()\n", "before", "if a:\n  # b\n  c\nx = 1\n# d\nf()\n"),
        ("# above\nf()  # c\n# below\n", "after", "# above\nf()  # c\nx = 1\n# below\n"),
        ("if a:\r\n\tf(\r\n)\r\n", "before", "if a:\r\n\tx = 1\r\n\tf(\r\n)\r\n"),
        ("if a:\r\n\tf(\r\n)\r\n", "after", "if a:\r\n\tf(\r\n)\r\n\tx = 1\r\n"),
        ("a; f(); b\n", "before", "a; x = 1; f(); b\n"),
        ("a; f(); b\n", "after", "a; f(); x = 1; b\n"),
        ("f(); b\n", "before", "x = 1\nf(); b\n"),
        ("  # c\nif a:\n  b; f();\n", "after", "  # c\nif a:\n  b; f();\n  x = 1\n"),
        ("if a: f()\n", "before", "if a: x = 1; f()\n"),
        ("if a: f();\n", "after", "if a: f(); x = 1;\n"),
        ("if f(): a\nb\n", "before", "x = 1\nif f(): a\nb\n"),
        ("if f(): a\nb\n", "after", "if f(): a\nx = 1\nb\n"),
        ("if a:\n    b\nelif f():\n    c\n", "before", "x = 1\nif a:\n    b\nelif f():\n    c\n"),
        (
            "try:\n    a\nexcept E:\n    f()\n",
            "before",
            "try:\n    a\nexcept E:\n    x = 1\n    f()\n",
        ),
        (
            "try:\n    a\nfinally:\n    f()\n",
            "after",
            "try:\n    a\nfinally:\n    f()\n    x = 1\n",
        ),
        (
            "match a:\n    case 1:\n        f()\n",
            "before",
            "match a:\n    case 1:\n        x = 1\n        f()\n",
        ),
        ("@f()\n@e\ndef g():\n    pass\n", "before", "x = 1\n@f()\n@e\ndef g():\n    pass\n"),
        (
            "def g():\n    return f()  # c\n\n\nh\n",
            "before",
            "def g():\n    x = 1\n    return f()  # c\n\n\nh\n",
        ),
        ("\ff()\n", "before", "x = 1\n\ff()\n"),
        ("\f\nf()\n", "after", "\f\nf()\nx = 1\n"),
        ("\ufefff()\n", "before", "\ufeffx = 1\nf()\n"),
        (
            "if a:\n  while f():\n    b\n    # c\n  d\n",
            "after",
            "if a:\n  while f():\n    b\n  x = 1\n    # c\n  d\n",
        ),
    ],
)
def test_a_statement_is_inserted(
    before: str, where: Literal["before", "after"], after: str
) -> None:
    result = changed(before, lambda tree: [InsertStatement(calls(tree)[0], "x = 1", where)])
    assert result == after


def test_a_compound_statement_gets_its_lines_indented() -> None:
    content = "if a:\n    b\n\nc"
    after = changed(
        "def g():\r\n  f()\r\n", lambda tree: [InsertStatement(calls(tree)[0], content)]
    )
    assert after == "def g():\r\n  if a:\r\n      b\r\n\r\n  c\r\n  f()\r\n"


@pytest.mark.parametrize("content", ["if a:\n    b", "if a: b", "a\nb"])
@pytest.mark.parametrize("text", ["a; f()", "if a: f()"])
def test_a_compound_statement_does_not_fit_beside_others(text: str, content: str) -> None:
    assert changed(text, lambda tree: [InsertStatement(calls(tree)[0], content)]) is None


def test_a_whole_line_may_be_the_site() -> None:
    text = "if a:\n    b; c\n"

    def line(tree: cst.Module) -> cst.CSTNode:
        return next(node for node in nodes(tree) if isinstance(node, cst.SimpleStatementLine))

    assert changed(text, lambda tree: [InsertStatement(line(tree), "x")]) == (
        "if a:\n    x\n    b; c\n"
    )
    assert changed(text, lambda tree: [InsertStatement(line(tree), "x", "after")]) == (
        "if a:\n    b; c\n    x\n"
    )
    assert changed(text, lambda tree: [RemoveStatement(line(tree))]) == "if a:\n    pass\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nf()\nb\n", "a\nb\n"),
        ("f()\n", ""),
        ("a\nf()", "a\n"),
        ("# above\nf(\n  x,\n)  # its own\n# below\nb\n", "# above\n# below\nb\n"),
        ("a\r\n\tif_\r\n".replace("\tif_", "f()") + "b\r\n", "a\r\nb\r\n"),
        ("if a:\n    f()  # c\nb\n", "if a:\n    pass  # c\nb\n"),
        ("if a:\n    f()\n    b\n", "if a:\n    b\n"),
        ("if a:\n    b\nelse:\n    f()\n", "if a:\n    b\nelse:\n    pass\n"),
        ("if a: f()  # c\n", "if a: pass  # c\n"),
        ("if a: f(); b\n", "if a: b\n"),
        ("if a: b; f();\n", "if a: b;\n"),
        ("a; f(); b  # c\n", "a; b  # c\n"),
        ("f(); b\n", "b\n"),
        ("a; f()  # c\n", "a  # c\n"),
        ("a\n\ff()\nb\n", "a\n\fb\n"),
        ("for a in f():\n    b\nelse:\n    c\nd\n", "d\n"),
        ("@f()\ndef g():\n    pass\nd\n", "d\n"),
    ],
)
def test_a_statement_is_removed(before: str, after: str) -> None:
    assert changed(before, lambda tree: [RemoveStatement(calls(tree)[0])]) == after


# The definition of the device

DEFINITION = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\nf(x)\n", f"import torch\n\n{DEFINITION}\nf(x)\n"),
        ("import torch\n\n\nf(x)\n", f"import torch\n\n{DEFINITION}\n\nf(x)\n"),
        ("import torch  # c\n# d\nf(x)\n", f"import torch  # c\n\n{DEFINITION}\n# d\nf(x)\n"),
        ("f(x)\n", f"import torch\n\n{DEFINITION}\nf(x)\n"),
        ("#!/bin/sh\n# c\n\nf(x)\n", f"#!/bin/sh\n# c\n\nimport torch\n\n{DEFINITION}\nf(x)\n"),
        ('"""doc"""\nf(x)\n', f'"""doc"""\n\nimport torch\n\n{DEFINITION}\nf(x)\n'),
        (
            "from __future__ import annotations\n\nf(x)\n",
            f"from __future__ import annotations\n\nimport torch\n\n{DEFINITION}\nf(x)\n",
        ),
        (
            "import os\nfrom torch import nn\nimport sys\n\nf(x)\n",
            f"import os\nimport torch\nfrom torch import nn\nimport sys\n\n{DEFINITION}\nf(x)\n",
        ),
        (
            "import torch.n as n\nfrom torch.b import a\nf(x)\n",
            f"import torch.n as n\nimport torch\nfrom torch.b import a\n\n{DEFINITION}\nf(x)\n",
        ),
        ("import torch.nn\nf(x)\n", f"import torch.nn\n\n{DEFINITION}\nf(x)\n"),
        (
            "import torch as th, os\n\nf(x)\n",
            "import torch as th, os\n\n" + DEFINITION.replace("torch.", "th.") + "\nf(x)\n",
        ),
        (
            "import os\r\nimport torch\r\n\r\nf('x')\r\n",
            "import os\r\nimport torch\r\n\r\n"
            + DEFINITION.replace('"', "'").replace("\n", "\r\n")
            + "\r\nf('x')\r\n",
        ),
        (
            "try:\n    import torch\nexcept E:\n    torch = None\n\nf(x)\n",
            f"try:\n    import torch\nexcept E:\n    torch = None\n\n{DEFINITION}\nf(x)\n",
        ),
        (
            "import sys\nsys.path.append('.')\n__all__ = []\nimport torch\n\nx=1\nimport z\nf(x)\n",
            "import sys\nsys.path.append('.')\n__all__ = []\nimport torch\n\n"
            + DEFINITION.replace('"', "'")
            + "\nx=1\nimport z\nf(x)\n",
        ),
        (
            "import torch\n\nif __name__ == '__main__':\n    import z\n    f(x)\n",
            f"import torch\n\n{DEFINITION}\nif __name__ == '__main__':\n    import z\n    f(x)\n",
        ),
        ("import torch\nf(x)\nimport z\n", f"import torch\n\n{DEFINITION}\nf(x)\nimport z\n"),
        ("import torch; f(x)\n", f"import torch\n\n{DEFINITION}\nimport torch; f(x)\n"),
        (
            "import torch\ndef g():\n    f(x)\nimport z\n",
            f"import torch\n\n{DEFINITION}\ndef g():\n    f(x)\nimport z\n",
        ),
        (f"import torch\n{DEFINITION}f(x)\n", f"import torch\n{DEFINITION}f(x)\n"),
        (
            f"import torch\n{DEFINITION}f('x', 'y')\n".replace('"', "'"),
            f"import torch\n{DEFINITION}f('x', 'y')\n".replace('"', "'"),
        ),
    ],
)
def test_the_device_is_defined_once_after_the_imports(before: str, after: str) -> None:
    def make(tree: cst.Module) -> list[Change]:
        return [DefineDevice("device"), DefineDevice("device"), InsertBefore(calls(tree)[0], "")]

    assert without_the_quotes_of_main(changed(before, make)) == without_the_quotes_of_main(after)


def without_the_quotes_of_main(text: str | None) -> str | None:
    return text and text.replace("'__main__'", '"__main__"').replace("'cuda'", '"cuda"').replace(
        "'cpu'", '"cpu"'
    )


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ndevice = 'cpu'\nf(x)\n",
        "from torch import device\nf(x)\n",
        "import torch\ndef device(): pass\nf(x)\n",
        "import torch\nif a:\n    device: str = 'cpu'\nf(x)\n",
        f"import torch\nf(x)\n{DEFINITION}",
    ],
)
def test_a_name_that_means_something_else_is_left_alone(text: str) -> None:
    def make(tree: cst.Module) -> list[Change]:
        return [DefineDevice("device"), InsertBefore(calls(tree)[0], "")]

    assert changed(text, make) is None


def test_all_fixes_share_the_place_before_the_first_use_of_any() -> None:
    text = "import torch\nf(x)\nimport z\nf(y)\n"
    module = cst.parse_module(text)
    rewrites = [
        Rewrite("moves it", (DefineDevice("device"), InsertAfter(call.args[0], ".to(device)")))
        for call in calls(module)
    ]
    first, second = resolve(rewrites, module, SourceFile.from_text(text))
    assert first is not None
    assert second is not None
    assert first.edits[0] == second.edits[0]


# All at once


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("prefix", ["", "\ufeff", "# -*- coding: latin-1 -*-\n", "\f\n", "\f"])
def test_all_else_stays_byte_for_byte(newline: str, prefix: str) -> None:
    text = (
        prefix + "import  torch ;\n\f\nif a :\n\t# \U0001f525 'x\n\ty = f( x )  # caf\u00e9\n\tz\n"
    ).replace("\n", newline)

    def make(tree: cst.Module) -> list[Change]:
        (call,) = calls(tree)
        return [InsertAfter(call.args[0], ".cpu()"), AddKeyword(call, "k", "1")]

    expected = text.replace("f( x )", "f( x.cpu(), k=1 )")
    assert changed(text, make) == expected


def function(module: cst.Module) -> cst.FunctionDef:
    return next(node for node in nodes(module) if isinstance(node, cst.FunctionDef))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("()", "(device=None)"),
        ("( )", "(device=None )"),
        ("(a)", "(a, device=None)"),
        ("(a,)", "(a, device=None,)"),
        ("(a, b=(1, 2))", "(a, b=(1, 2), device=None)"),
        ("(a: int = 1)", "(a: int = 1, device=None)"),
        ("(a, /, b)", "(a, /, b, device=None)"),
        ("(a, *rest)", "(a, *rest, device=None)"),
        ("(a, *, b=1)", "(a, *, b=1, device=None)"),
        ("(**more)", "(device=None, **more)"),
        ("(a, *rest, b: int, **more)", "(a, *rest, b: int, device=None, **more)"),
        ("(\n    a,\n    b=1\n)", "(\n    a,\n    b=1,\n    device=None\n)"),
        ("(\n    a,\n    b,  # why\n)", "(\n    a,\n    b,  # why\n    device=None,\n)"),
        ("(a,\n      b)", "(a,\n      b,\n      device=None)"),
    ],
)
def test_a_function_gets_a_parameter(before: str, after: str) -> None:
    text = f"def f{before}:\n    pass\n"
    made = changed(text, lambda tree: [AddParameter(function(tree), "device")])
    assert made == f"def f{after}:\n    pass\n"


def test_a_function_that_takes_nothing_by_name_gets_none() -> None:
    text = "def f(a, /):\n    pass\n"
    assert changed(text, lambda tree: [AddParameter(function(tree), "device")]) is None


@pytest.mark.parametrize(
    ("head", "annotation"),
    [
        ("import torch", '"torch.device | None"'),
        ("import torch as t\nfrom typing import Any, Optional", "Optional[t.device]"),
        ("from __future__ import annotations\nimport torch", "torch.device | None"),
    ],
)
def test_a_parameter_is_annotated_as_the_others_are(head: str, annotation: str) -> None:
    text = f"{head}\ndef f(a: int):\n    pass\n"
    made = changed(text, lambda tree: [AddParameter(function(tree), "device")])
    assert made == text.replace("a: int", f"a: int, device: {annotation} = None")
