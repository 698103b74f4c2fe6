"""Loops, comprehensions, and what gives items one by one."""

from __future__ import annotations

import pytest

ROWS = {
    "for": ("for x in [cuda, cuda]: pass", "x", "cuda"),
    "for over two devices": ("for x in [cpu, cuda]: pass", "x", "cuda"),
    "each of two": ("xs = []\nfor x in [cpu, cuda]: xs.append(x)", "xs[0]; xs[1]", "cpu; cuda"),
    "by number": (
        "xs = [cpu, cpu]\nfor i in range(len(xs)): xs[i] = xs[i].cuda()",
        "xs[0]; xs[1]",
        "cuda; cuda",
    ),
    "enumerate from": (
        "xs = [cpu] * 3\nfor i, x in enumerate([cuda, 1], 1): xs[i] = x",
        "xs[1]",
        "cuda",
    ),
    "columns": ("a, b = zip(*[(cpu, cuda), (cpu, cuda)])", "a[1]; b[0]", "cpu; cuda"),
    "reversed": ("xs = list(reversed([cpu, cuda]))", "xs[0]; xs[1]", "cuda; cpu"),
    "reduce": (
        "from functools import reduce\nx = reduce(lambda a, b: b, [cpu, cuda])",
        "x",
        "cuda",
    ),
    "iterator": ("it = iter([cpu, cuda])\na = next(it)\nb = next(it)", "a; b", "cpu; cuda"),
    "what a loop changes": ("x = cpu\nfor _ in range(3): x = x.cuda()", "x", "cuda"),
    "while with break": ("x = cpu\nwhile True:\n    x = cuda\n    break", "x", "cuda"),
    "for with else": ("x = cpu\nfor _ in range(3): pass\nelse: x = cuda", "x", "cuda"),
    "enumerate": ("for i, x in enumerate([cuda]): pass", "x", "cuda"),
    "zip": ("for a, b in zip([cpu], [cuda]): pass", "a; b", "cpu; cuda"),
    "list of zip": ("a, b = list(zip([cpu], [cuda]))[0]", "a; b", "cpu; cuda"),
    "map": ("xs = list(map(lambda x: x.cuda(), [cpu]))", "xs[0]", "cuda"),
    "sorted": ("xs = sorted([cuda, cuda], key=len)", "xs[0]", "cuda"),
    "generator": ("def f():\n    yield cuda", "next(f())", "cuda"),
    "comprehension": ("xs = [x.cuda() for x in (cpu, cuda)]", "xs[0]; xs[1]", "cuda; cuda"),
    "items told apart": ("xs = [x for x in (cpu, cuda)]", "xs[0]; xs[1]", "cpu; cuda"),
    "nested comprehension": ("xs = [x for row in [[cuda]] for x in row]", "xs[0]", "cuda"),
    "dict comprehension": ("ds = {n: x for n, x in [('a', cuda)]}", "ds['a']", "cuda"),
    "scope of a comprehension": ("x = cpu\nxs = [x for x in [cuda]]", "x", "cpu"),
    "sum": ("x = sum([cuda, cuda])", "x", "cuda"),
}


@pytest.mark.parametrize(("code", "expressions", "values"), ROWS.values(), ids=ROWS)
def test_items_come_with_their_devices(evaluate, code, expressions, values):
    assert evaluate(code, expressions) == values
